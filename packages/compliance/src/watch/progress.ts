import type { Database } from '@remit/core/db/open'
import { inPart } from '@remit/core/db'
import type { Part } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'

/** Tables with the first entry of each ledger that is not counted yet. They have the same columns. */
type Progress = 'stat_progress' | 'usage_progress'

const PIECE = 100

/** A ledger with entries that are not counted yet. */
export interface Behind {
  readonly orgId: string
  /** The first of them; null if nothing was counted before. */
  readonly nextSeq: number | null
}

/** Calls `count` for each ledger of a part with entries that are not counted, while `holds`. */
export async function eachBehind(
  db: Database<Tables>,
  table: Progress,
  part: Part,
  holds: () => Promise<boolean>,
  count: (behind: Behind) => Promise<void>,
): Promise<void> {
  let after = ''
  while (await holds()) {
    const found = await db
      .selectFrom('ledger_head as h')
      .leftJoin(`${table as 'stat_progress'} as p`, 'p.org_id', 'h.org_id')
      .select(['h.org_id as orgId', 'p.next_seq as nextSeq'])
      .where(inPart(part, 'h.org_id'))
      .where('h.org_id', '>', after)
      .where((row) =>
        row.or([row('p.next_seq', 'is', null), row('p.next_seq', '<', row.ref('h.size'))]),
      )
      .orderBy('h.org_id')
      .limit(PIECE)
      .execute()
    for (const one of found) if (await holds()) await count(one)
    after = found.at(-1)?.orgId ?? after
    if (found.length < PIECE) return
  }
}

/** Moves the progress in the transaction of the counts; false if another process did. */
export async function moveProgress(
  tx: Database<Tables>,
  table: Progress,
  { orgId, nextSeq }: Behind,
  next: number,
): Promise<boolean> {
  if (nextSeq === null) {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto(table as 'stat_progress')
      .values({ org_id: orgId, next_seq: next })
      .onConflict((conflict) => conflict.column('org_id').doNothing())
      .executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows === 1n
  }
  const { numUpdatedRows } = await tx
    .updateTable(table as 'stat_progress')
    .set({ next_seq: next })
    .where('org_id', '=', orgId)
    .where('next_seq', '=', nextSeq)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}
