import { isoTime, on, OPERATOR, SYSTEM } from '@remit/core'
import type { AnyDatabase, Deps } from '@remit/core'
import type { Tables } from '../schema.ts'

const dayOf = (time: string): string => time.slice(0, 10)

/** Organizations above an id that use their ledger and have no heartbeat of the UTC day yet. */
export async function findSilent(
  db: AnyDatabase,
  now: number,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await on<Tables>(db)
    .selectFrom('organization as o')
    .leftJoin('ledger_watch as w', 'w.org_id', 'o.id')
    .select('o.id')
    .where('o.plan', '<>', 'free')
    .where('o.id', '>', after)
    .where((where) =>
      where.or([
        where('w.heartbeat_day', 'is', null),
        where('w.heartbeat_day', '<', dayOf(isoTime(now))),
      ]),
    )
    .orderBy('o.id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Records that the server was there on this day, once. The day is that of the entry's own time, and is
 * written together with it under the ledger's lock, so nobody who comes later can do it again.
 */
export const beat = (writer: Deps['writer'], orgId: string): Promise<boolean> =>
  writer.work(orgId, OPERATOR, async ({ tx, recordedAt }) => {
    const day = dayOf(recordedAt)
    const { numInsertedOrUpdatedRows } = await on<Tables>(tx)
      .insertInto('ledger_watch')
      .values({ org_id: orgId, heartbeat_day: day })
      .onConflict((conflict) =>
        conflict
          .column('org_id')
          .doUpdateSet({ heartbeat_day: day })
          .where('ledger_watch.heartbeat_day', '<', day),
      )
      .executeTakeFirstOrThrow()
    const isFirst = numInsertedOrUpdatedRows === 1n
    const entries = isFirst ? [{ kind: 'ledger.heartbeat', actor: SYSTEM, data: { day } }] : []
    return { entries, reply: () => isFirst }
  })
