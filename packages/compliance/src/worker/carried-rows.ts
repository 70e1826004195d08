import { CARRIED_KIND, parseCarried } from '@remit/core'
import type { Database } from '@remit/core'
import type { FactRow } from '../facts/index.ts'
import type { Tables } from '../schema.ts'

const PAGE = 1_000

/**
 * What prunings carried over of the entries that they removed, in the order in which these stood: it
 * goes into a fold before the entries do. A later pruning carries on what an earlier one did.
 */
export async function carriedRows(db: Database<Tables>, orgId: string): Promise<FactRow[]> {
  const carried = new Map<number, FactRow>()
  let after = -1
  for (;;) {
    const rows = await db
      .selectFrom('ledger_entry')
      .selectAll()
      .where('org_id', '=', orgId)
      .where('kind', '=', CARRIED_KIND)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(PAGE)
      .execute()
    for (const row of rows) {
      const entry = parseCarried(row)
      if (!entry) continue
      const { seq, recorded_at, kind, payload } = entry
      carried.set(seq, { seq, recorded_at, kind, payload: JSON.stringify(payload) })
    }
    const last = rows.at(-1)
    if (!last || rows.length < PAGE) break
    after = last.seq
  }
  return [...carried.values()].toSorted((a, b) => a.seq - b.seq)
}
