import { defineModule } from '@remit/core/module'
import { createTestRemit } from '@remit/testing'
import type { TestRemit, TestRemitOptions } from '@remit/testing'
import { migrations } from '../../src/tables/schema.ts'
import { verifyRoutes } from '../../src/verify/routes.ts'
import { Watch } from '../../src/watch/watch.ts'
import { createJobs } from '../../src/worker/create-jobs.ts'

export interface Watching {
  readonly remit: TestRemit
  readonly watch: Watch
}

/** A process of an installation whose watch runs on demand. */
export async function createWatching(options: TestRemitOptions): Promise<Watching> {
  let watch: Watch | undefined
  const module = defineModule({
    name: 'compliance',
    migrations,
    setup: (deps) => {
      const jobs = createJobs(deps)
      watch = new Watch(deps)
      const close = async () => {
        await watch?.close()
        await jobs.close()
      }
      return { routes: verifyRoutes(deps, jobs), close }
    },
  })
  const remit = await createTestRemit({ ...options, modules: [module] })
  if (!watch) throw new Error('the module was not set up')
  return { remit, watch }
}
