import { defineModule } from '@remit/core/module'
import { operatorOf } from './operator.ts'
import { previewRoutes, replaysOf } from './preview/routes.ts'
import { Generator } from './report/generator.ts'
import { reportRoutes } from './report/routes.ts'
import { archive, migrations, placements } from './tables/schema.ts'
import { verifyRoutes } from './verify/routes.ts'
import { StatKeeper } from './stats/keeper.ts'
import { statRoutes } from './stats/routes.ts'
import { UsageKeeper } from './usage/keeper.ts'
import { usageCounts, usageRoutes } from './usage/routes.ts'
import { refuseRestored } from './watch/refuse-restored.ts'
import { Watch } from './watch/watch.ts'
import { createJobs } from './worker/create-jobs.ts'

export default defineModule({
  name: 'compliance',
  migrations,
  placements,
  archive,
  setup: (deps) => {
    const jobs = createJobs(deps)
    const generator = new Generator(deps, jobs)
    const watch = new Watch(deps)
    const stats = new StatKeeper(deps, jobs)
    const usage = new UsageKeeper(deps)
    const counts = usageCounts(deps)
    return {
      routes: [
        ...previewRoutes(deps, jobs),
        ...verifyRoutes(deps, jobs),
        ...reportRoutes({ ...deps, jobs, generator }),
        ...statRoutes(deps),
        ...usageRoutes(counts),
      ],
      provides: {
        compliance: operatorOf(deps, jobs),
        replays: replaysOf(deps, jobs),
        usageCounts: counts,
      },
      check: () => refuseRestored(deps),
      start() {
        watch.start()
        stats.start()
        usage.start()
        generator.start()
      },
      async close() {
        await usage.close()
        await stats.close()
        await watch.close()
        await generator.close()
        await jobs.close()
      },
    }
  },
})
