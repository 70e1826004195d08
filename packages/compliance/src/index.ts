import { defineModule } from '@remit/core'
import { operatorOf } from './operator.ts'
import { previewRoutes } from './preview/routes.ts'
import { reportsOf } from './report/index.ts'
import { migrations } from './tables/schema.ts'
import { verifyRoutes } from './verify/routes.ts'
import { Watch } from './watch/watch.ts'
import { createJobs } from './worker/create-jobs.ts'

export default defineModule({
  name: 'compliance',
  migrations,
  setup: (deps) => {
    const jobs = createJobs(deps)
    const reports = reportsOf(deps, jobs)
    const watch = new Watch(deps)
    return {
      routes: [...previewRoutes(deps, jobs), ...verifyRoutes(deps, jobs), ...reports.routes],
      provides: { compliance: operatorOf(deps, jobs) },
      start() {
        watch.start()
        reports.start()
      },
      async close() {
        await watch.close()
        await reports.close()
        await jobs.close()
      },
    }
  },
})
