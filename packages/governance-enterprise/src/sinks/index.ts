import { organizationIds } from '@remit/core'
import type { Contribution, Deps, Resealed } from '@remit/core'
import { lagMetric } from './lag-metric.ts'
import { sinkRoutes } from './routes.ts'
import { resealSinks } from './secrets.ts'
import { SinkStreams } from './streams.ts'

/** Large batches take longer than webhooks. */
const TOTAL_MS = 15_000

/** The contribution of sinks to the module. */
export function sinksOf(
  deps: Deps,
): Required<Pick<Contribution, 'routes' | 'reseal' | 'start' | 'close'>> {
  const allowPrivate = deps.settings.sinkPrivateNetwork === true
  const outbound = deps.outbound.with({ anyPort: true, allowPrivate, totalMs: TOTAL_MS })
  const streams = new SinkStreams(deps, outbound)
  lagMetric(deps)
  return {
    routes: sinkRoutes(deps, outbound),
    reseal: () => resealAll(deps),
    start: () => streams.start(),
    close: () => streams.close(),
  }
}

async function resealAll(deps: Deps): Promise<Resealed> {
  const total = { resealed: 0, unreadable: 0 }
  for (const orgId of await organizationIds(deps.db)) {
    try {
      const { resealed, unreadable } = await resealSinks(deps, orgId)
      total.resealed += resealed
      total.unreadable += unreadable
    } catch (error) {
      // One that is unavailable must not keep a server from its start.
      deps.log.error({ err: error, orgId }, 'encrypting the secrets of sinks failed')
    }
  }
  return total
}
