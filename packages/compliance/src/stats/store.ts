import { bulkInsert, inPart, isoTime } from '@remit/core'
import type { Database, Part } from '@remit/core'
import type { Tally } from '../jobs/tally.ts'
import type { Tables } from '../tables/schema.ts'

type Db = Database<Tables>

const COLUMNS = {
  org_id: 'text',
  size: 'text',
  dimension: 'text',
  bucket: 'text',
  key: 'text',
  count: 'bigint',
  micro: 'bigint',
} as const
const SUM = `on conflict (org_id, size, dimension, bucket, key) do update
  set count = stat_bucket.count + excluded.count, micro = stat_bucket.micro + excluded.micro`

/** A ledger with entries that are not counted yet. */
export interface Behind {
  readonly orgId: string
  /** The first of them; null if nothing was counted before. */
  readonly nextSeq: number | null
}

/** Returns ledgers of a part after an id with entries that are not counted yet. */
export async function findBehind(
  db: Db,
  part: Part,
  after: string,
  limit: number,
): Promise<Behind[]> {
  const rows = await db
    .selectFrom('ledger_head as h')
    .leftJoin('stat_progress as p', 'p.org_id', 'h.org_id')
    .select(['h.org_id as orgId', 'p.next_seq as nextSeq'])
    .where(inPart(part, 'h.org_id'))
    .where('h.org_id', '>', after)
    .where((row) =>
      row.or([row('p.next_seq', 'is', null), row('p.next_seq', '<', row.ref('h.size'))]),
    )
    .orderBy('h.org_id')
    .limit(limit)
    .execute()
  return rows
}

/**
 * Adds counts together with the progress. False if another process has counted these entries: then
 * nothing is added.
 */
export function addTally(
  db: Db,
  { orgId, nextSeq }: Behind,
  { rows, nextSeq: next }: Tally,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    if (nextSeq === null) {
      const begun = await tx
        .insertInto('stat_progress')
        .values({ org_id: orgId, next_seq: next })
        .onConflict((conflict) => conflict.column('org_id').doNothing())
        .executeTakeFirstOrThrow()
      if (begun.numInsertedOrUpdatedRows !== 1n) return false
    } else {
      const { numUpdatedRows } = await tx
        .updateTable('stat_progress')
        .set({ next_seq: next })
        .where('org_id', '=', orgId)
        .where('next_seq', '=', nextSeq)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows !== 1n) return false
    }
    const counted = rows.map((row) => ({ org_id: orgId, ...row }))
    await bulkInsert(tx, 'stat_bucket', COLUMNS, counted, SUM)
    return true
  })
}

const MINUTES_KEPT_MS = 7 * 24 * 60 * 60 * 1000

/** Deletes the minutes of more than seven days ago; their hours stay. */
export async function forgetMinutes(db: Db, part: Part, now: number): Promise<void> {
  await db
    .deleteFrom('stat_bucket')
    .where(inPart(part))
    .where('size', '=', 'minute')
    .where('bucket', '<', isoTime(now - MINUTES_KEPT_MS).slice(0, 16))
    .execute()
}
