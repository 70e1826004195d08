import { fail, findCut, on } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import type { ReadyReport } from '@remit/contract'
import type { Tables } from '../tables/schema.ts'

/**
 * Throws `ledger_pruned` where entries that a report was made from are gone since: read again, the rest
 * would contradict it without a word. Also entries of before the period, since checks look back on them
 * and what stood when it began is evidence.
 */
export async function checkWhole(
  db: AnyDatabase,
  orgId: string,
  { content: { ledger } }: ReadyReport,
): Promise<void> {
  const cut = await findCut(on<Tables>(db), orgId)
  if (!cut || cut.size <= (ledger.verified_from_seq ?? 0)) return
  throw fail(
    'ledger_pruned',
    `Entries of the report were pruned: the ledger now starts at entry ${cut.size}. A new report for the period lists the remaining evidence`,
  )
}
