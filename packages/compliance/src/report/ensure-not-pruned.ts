import { fail } from '@remit/core/base'
import { on } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import { findCut } from '@remit/core/ledger/records'
import type { ReadyReport } from '@remit/contract'
import type { Tables } from '../tables/schema.ts'

/**
 * Throws `ledger_pruned` if entries of a report were pruned since: the remaining entries would
 * silently contradict it. This includes entries before the period, since checks look back on them
 * and earlier configuration is evidence.
 */
export async function ensureNotPruned(
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
