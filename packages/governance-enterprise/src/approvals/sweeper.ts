import { isoTime, Periodic } from '@remit/core/base'
import { actorOf } from '@remit/core/caller'
import { eachPart, inPart, on } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import { cached } from '@remit/core/telemetry'
import type { Tables } from '../tables/schema.ts'
import { approvalEntry } from './request.ts'
import { findExpired, moveRequest } from './store.ts'

export type SweepDeps = Pick<Deps, 'db' | 'writer' | 'clock' | 'log'>

const EVERY_MS = 10_000
const PIECE = 100

/** Records expired requests, once across all processes. No decision depends on it. */
export async function recordExpired({ db, writer, clock, log }: SweepDeps): Promise<void> {
  const parts = await eachPart(
    db,
    (part) =>
      on<Tables>(db)
        .selectFrom('approval_request')
        .select('org_id')
        .distinct()
        .where(inPart(part))
        .where('status', 'in', ['pending', 'approved'])
        .where('counts_until', '<=', isoTime(clock.now()))
        .limit(1000)
        .execute(),
    (error, organizations) =>
      log.warn({ err: error, organizations }, 'reading expired approvals failed'),
  )
  const due = parts.flat()
  for (const { org_id: orgId } of due) {
    try {
      while ((await expireSome(writer, orgId)) === PIECE);
    } catch (error) {
      // A failing ledger of one organization must not delay the others.
      log.warn({ err: error, orgId }, 'recording expired approvals failed')
    }
  }
}

/** Records at most one batch; returns the number recorded. */
const expireSome = (writer: Deps['writer'], orgId: string): Promise<number> =>
  writer.work(orgId, OPERATOR, async ({ tx, now, recordedAt }) => {
    const due = await findExpired(tx, orgId, now, PIECE)
    const entries = []
    for (const row of due) {
      const expired = await moveRequest(tx, row, 'expired', {
        closed_at: recordedAt,
        counts_until: null,
      })
      entries.push(approvalEntry('approval.expired', expired, now, actorOf(null), {}))
    }
    return { entries, reply: () => due.length }
  })

/** Records expired requests periodically. */
export const createSweeper = (deps: SweepDeps): Periodic =>
  new Periodic(
    EVERY_MS,
    () => recordExpired(deps),
    (error) => deps.log.warn({ err: error }, 'reading expired approvals failed'),
  )

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
