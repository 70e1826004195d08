import { isoTime } from '@remit/core/base'
import { eachPart, inPart, on } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { cached } from '@remit/core/telemetry'
import type { Tables } from '../tables/schema.ts'

type MetricDeps = Pick<Deps, 'db' | 'clock' | 'metrics'>

/** Metrics of the open approval requests of the installation, the same from every server. */
export function pendingMetrics({ db, clock, metrics }: MetricDeps): void {
  // Without the organizations that are unavailable.
  const pending = () =>
    eachPart(
      db,
      (part) =>
        on<Tables>(db)
          .selectFrom('approval_request')
          .select((of) => [of.fn.countAll().as('count'), of.fn.min('requested_at').as('oldest')])
          .where(inPart(part))
          .where('status', '=', 'pending')
          .where('counts_until', '>', isoTime(clock.now()))
          .executeTakeFirstOrThrow(),
      () => undefined,
    )
  metrics.gauge(
    'remit_approvals_pending',
    'Open approval requests of all organizations',
    cached(async () => (await pending()).reduce((sum, { count }) => sum + Number(count), 0)),
  )
  metrics.gauge(
    'remit_approval_oldest_pending_seconds',
    'Age of the oldest open approval request; 0 without one',
    cached(async () => {
      const oldest = (await pending()).flatMap((part) => part.oldest ?? [])
      const now = clock.now()
      return oldest.reduce((most, at) => Math.max(most, (now - Date.parse(at)) / 1000), 0)
    }),
  )
}
