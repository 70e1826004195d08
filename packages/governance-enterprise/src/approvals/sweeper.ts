import { actorOf, isoTime, on, OPERATOR } from '@remit/core'
import type { Deps } from '@remit/core'
import type { Tables } from '../tables/schema.ts'
import { approvalEntry } from './request.ts'
import { findDue, moveRequest } from './store.ts'

export type SweepDeps = Pick<Deps, 'db' | 'writer' | 'clock' | 'log'>

const EVERY_MS = 10_000
const PIECE = 100

/**
 * Records what has run out, once, however many processes sweep. No decision depends on it: expired is
 * what is past its end.
 */
export async function recordExpired({ db, writer, clock, log }: SweepDeps): Promise<void> {
  const due = await on<Tables>(db)
    .selectFrom('approval_request')
    .select('org_id')
    .distinct()
    .where('status', 'in', ['pending', 'approved'])
    .where('counts_until', '<=', isoTime(clock.now()))
    .limit(1000)
    .execute()
  for (const { org_id: orgId } of due) {
    try {
      while ((await expireSome(writer, orgId)) === PIECE);
    } catch (error) {
      // One organization whose ledger cannot be written must not keep the others waiting.
      log.warn({ err: error, orgId }, 'recording expired approvals failed')
    }
  }
}

/** How many were recorded, a piece at most. */
const expireSome = (writer: Deps['writer'], orgId: string): Promise<number> =>
  writer.work(orgId, OPERATOR, async ({ tx, now, recordedAt }) => {
    const due = await findDue(tx, orgId, now, PIECE)
    const entries = []
    for (const row of due) {
      const expired = await moveRequest(tx, row, 'expired', {
        closed_at: recordedAt,
        counts_until: null,
      })
      entries.push(approvalEntry('expired', expired, now, { actor: actorOf(null) }))
    }
    return { entries, reply: () => due.length }
  })

/** Sweeps from time to time until it is closed. */
export function createSweeper(deps: SweepDeps): { start(): void; close(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | null = null
  const sweep = () => {
    running ??= recordExpired(deps)
      .catch((error: unknown) => deps.log.warn({ err: error }, 'reading expired approvals failed'))
      .finally(() => (running = null))
  }
  return {
    start() {
      timer = setInterval(sweep, EVERY_MS).unref()
    },
    async close() {
      clearInterval(timer)
      await running
    },
  }
}
