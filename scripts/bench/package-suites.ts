import { existsSync, readdirSync } from 'node:fs'
import type { BenchTools, Result, Suites } from '@remit/testing/bench'
import { loadModules } from '../../apps/server/src/boot/modules.ts'
import { createInstallation } from './installation.ts'
import { startServer } from './servers.ts'

const packages = new URL('../../packages/', import.meta.url)

/** Suites of packages in `bench/suites.ts`; an edition without a package has fewer. */
export async function packageSuites(
  sizes: Pick<BenchTools, 'rounds' | 'entries'>,
): Promise<Record<string, () => Promise<Result[]>>> {
  const found: Record<string, () => Promise<Result[]>> = {}
  for (const name of readdirSync(packages)) {
    const file = new URL(`${name}/bench/suites.ts`, packages)
    if (!existsSync(file)) continue
    const { suites } = (await import(file.href)) as { readonly suites: Suites }
    for (const [suite, run] of Object.entries(suites))
      found[suite] = () => run({ ...sizes, startRemit })
  }
  return found
}

const startRemit: BenchTools['startRemit'] = async ({ dialect = 'sqlite', fill } = {}) => {
  const installation = await createInstallation(dialect)
  const organization = fill && (await fill({ ...installation, modules: await loadModules() }))
  const server = await startServer({
    kind: 'remit',
    ...installation,
    ...(organization && { organization }),
  })
  return {
    url: server.url,
    headers: { authorization: `Bearer ${server.organization.key}` },
    usage: () => server.usage(),
    async stop() {
      await server.stop()
      await installation.remove()
    },
  }
}
