import { cached, isoTime, on } from '@remit/core'
import type { Deps } from '@remit/core'
import type { Tables } from '../tables/schema.ts'

type MetricDeps = Pick<Deps, 'db' | 'clock' | 'metrics'>

/** Metrics of the open approval requests of the installation, the same from every server. */
export function pendingMetrics({ db, clock, metrics }: MetricDeps): void {
  const pending = () =>
    on<Tables>(db)
      .selectFrom('approval_request')
      .where('status', '=', 'pending')
      .where('counts_until', '>', isoTime(clock.now()))
  metrics.gauge(
    'remit_approvals_pending',
    'Open approval requests of all organizations',
    cached(async () => {
      const { count } = await pending()
        .select((of) => of.fn.countAll().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    }),
  )
  metrics.gauge(
    'remit_approval_oldest_pending_seconds',
    'Age of the oldest open approval request; 0 without one',
    cached(async () => {
      const { oldest } = await pending()
        .select((of) => of.fn.min('requested_at').as('oldest'))
        .executeTakeFirstOrThrow()
      return oldest ? Math.max(0, (clock.now() - Date.parse(oldest)) / 1000) : 0
    }),
  )
}
