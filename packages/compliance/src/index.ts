import { setImmediate } from 'node:timers/promises'
import { defineModule } from '@remit/core'
import { replay } from './preview/replay.ts'
import { previewRoutes } from './preview/routes.ts'
import type { Replays } from './preview/routes.ts'
import { migrations } from './schema.ts'
import { verifyRoutes } from './verify/routes.ts'
import { Watch } from './watch/watch.ts'
import { createJobs } from './worker/create-jobs.ts'

export default defineModule({
  name: 'compliance',
  migrations,
  setup: (deps) => {
    const here: Replays = {
      replay: (orgId, task) => replay(deps.db, orgId, task, () => setImmediate()),
    }
    const jobs = createJobs(deps)
    const watch = new Watch(deps)
    return {
      routes: [...previewRoutes(deps, here), ...verifyRoutes(deps, jobs)],
      start() {
        watch.start()
      },
      async close() {
        await watch.close()
        await jobs.close()
      },
    }
  },
})
