import type { Contribution, Deps } from '@remit/core/module'
import { lagMetric, SinkStreams } from './streams.ts'
import { sinkRoutes } from './routes.ts'

/** Large batches take longer than webhooks. */
const TOTAL_MS = 15_000

export function sinksOf(deps: Deps): Required<Pick<Contribution, 'routes' | 'start' | 'close'>> {
  const allowPrivate = deps.settings.sinkPrivateNetwork === true
  const outbound = deps.outbound.with({ anyPort: true, allowPrivate, totalMs: TOTAL_MS })
  const streams = new SinkStreams(deps, outbound)
  lagMetric(deps)
  return {
    routes: sinkRoutes(deps, outbound),
    start: () => streams.start(),
    close: () => streams.close(),
  }
}
