import type { Database } from '@remit/core/db/open'
import { decisionEntry, Interner } from '../facts/index.ts'
import type { Tally } from '../jobs/tally.ts'
import type { Tables } from '../tables/schema.ts'
import { Counter } from './count.ts'

/** Entries of one job: some tenths of a second. */
const MOST = 20_000
const PAGE = 1_000

/** Counts the decisions of a ledger from an entry on; for a worker thread. */
export async function tally(db: Database<Tables>, orgId: string, fromSeq: number): Promise<Tally> {
  const counter = new Counter()
  const names = new Interner()
  let nextSeq = fromSeq
  while (nextSeq < fromSeq + MOST) {
    const rows = await db
      .selectFrom('ledger_entry')
      .select(['seq', 'kind', 'recorded_at', 'payload'])
      .where('org_id', '=', orgId)
      .where('seq', '>=', nextSeq)
      .orderBy('seq')
      .limit(PAGE)
      .execute()
    for (const row of rows) {
      const entry = decisionEntry(row, names)
      if (entry) counter.add(entry)
      nextSeq = row.seq + 1
    }
    if (rows.length < PAGE) break
  }
  return { rows: counter.rows(), nextSeq }
}
