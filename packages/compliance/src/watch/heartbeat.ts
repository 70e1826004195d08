import { isoTime } from '@remit/core/base'
import { SYSTEM } from '@remit/core/caller'
import { inPart, on } from '@remit/core/db'
import type { AnyDatabase, Part } from '@remit/core/db'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import type { Tables } from '../tables/schema.ts'

/**
 * A heartbeat is due 23 hours after the last one, in milliseconds. The next run, perhaps by another
 * process, may be late, and a ledger must not be silent for a day.
 */
const DUE_AFTER = 23 * 60 * 60 * 1000

/** A heartbeat is due for ledgers with a last heartbeat before this time. */
const dueSince = (now: number): string => isoTime(now - DUE_AFTER)

/** Organizations of a part after an id that use their ledger and whose heartbeat is due. */
export async function findDueHeartbeats(
  db: AnyDatabase,
  part: Part,
  now: number,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await on<Tables>(db)
    .selectFrom('organization as o')
    .leftJoin('ledger_watch as w', 'w.org_id', 'o.id')
    .select('o.id')
    .where(inPart(part, 'o.id'))
    .where('o.plan', '<>', 'free')
    .where('o.id', '>', after)
    .where((where) =>
      where.or([where('w.heartbeat_at', 'is', null), where('w.heartbeat_at', '<=', dueSince(now))]),
    )
    .orderBy('o.id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Records a heartbeat if it is due. Its time is that of the entry and is written in the same
 * transaction under the ledger's lock, so no other process repeats it.
 */
export const recordHeartbeat = (writer: Deps['writer'], orgId: string): Promise<boolean> =>
  writer.work(orgId, OPERATOR, async ({ tx, recordedAt }) => {
    const { numInsertedOrUpdatedRows } = await on<Tables>(tx)
      .insertInto('ledger_watch')
      .values({ org_id: orgId, heartbeat_at: recordedAt })
      .onConflict((conflict) =>
        conflict
          .column('org_id')
          .doUpdateSet({ heartbeat_at: recordedAt })
          .where('ledger_watch.heartbeat_at', '<=', dueSince(Date.parse(recordedAt))),
      )
      .executeTakeFirstOrThrow()
    const wasDue = numInsertedOrUpdatedRows === 1n
    const data = { day: recordedAt.slice(0, 10) }
    const beat: EntryDraft = { kind: 'ledger.heartbeat', actor: SYSTEM, data }
    return { entries: wasDue ? [beat] : [], reply: () => wasDue }
  })
