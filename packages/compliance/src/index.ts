import { defineModule } from '@remit/core'
import { operatorOf } from './operator.ts'
import { previewRoutes } from './preview/routes.ts'
import { reportsOf } from './report/index.ts'
import { migrations, placements } from './tables/schema.ts'
import { verifyRoutes } from './verify/routes.ts'
import { StatKeeper } from './stats/keeper.ts'
import { statRoutes } from './stats/routes.ts'
import { UsageKeeper } from './usage/keeper.ts'
import { usageRoutes } from './usage/routes.ts'
import { refuseRestored } from './watch/refuse-restored.ts'
import { Watch } from './watch/watch.ts'
import { createJobs } from './worker/create-jobs.ts'

export default defineModule({
  name: 'compliance',
  migrations,
  placements,
  setup: (deps) => {
    const jobs = createJobs(deps)
    const reports = reportsOf(deps, jobs)
    const watch = new Watch(deps)
    const stats = new StatKeeper(deps, jobs)
    const usage = new UsageKeeper(deps)
    return {
      routes: [
        ...previewRoutes(deps, jobs),
        ...verifyRoutes(deps, jobs),
        ...reports.routes,
        ...statRoutes(deps),
        ...usageRoutes(deps),
      ],
      provides: { compliance: operatorOf(deps, jobs) },
      check: () => refuseRestored(deps),
      start() {
        watch.start()
        stats.start()
        usage.start()
        reports.start()
      },
      async close() {
        await usage.close()
        await stats.close()
        await watch.close()
        await reports.close()
        await jobs.close()
      },
    }
  },
})
