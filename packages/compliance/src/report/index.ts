import type { Contribution, Deps } from '@remit/core/module'
import type { Jobs } from '../jobs/jobs.ts'
import { Generator } from './generator.ts'
import { reportRoutes } from './routes.ts'

/** The contribution of reports to the module. */
export function reportsOf(
  deps: Deps,
  jobs: Jobs,
): Required<Pick<Contribution, 'routes' | 'start' | 'close'>> {
  const generator = new Generator(deps, jobs)
  return {
    routes: reportRoutes({ ...deps, jobs, generator }),
    start: () => generator.start(),
    close: () => generator.close(),
  }
}
