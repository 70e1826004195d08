import { carriedEntries, findCut, parseCarried } from '@remit/core'
import type { Database } from '@remit/core'
import type { FactRow } from '../facts/index.ts'
import type { Tables } from '../schema.ts'

/**
 * What prunings carried over of the entries that they removed, in the order in which these stood: it
 * goes into a fold before the entries do. A later pruning carries on what an earlier one did; one that
 * was interrupted carried what is still there itself, which is left out.
 */
export async function carriedRows(db: Database<Tables>, orgId: string): Promise<FactRow[]> {
  const cut = await findCut(db, orgId)
  if (!cut) return []
  const carried = new Map<number, FactRow>()
  for await (const row of carriedEntries(db, orgId, cut.size)) {
    const entry = parseCarried(row)
    if (!entry || entry.seq >= cut.size) continue
    const { seq, recorded_at, kind, payload } = entry
    carried.set(seq, { seq, recorded_at, kind, payload: JSON.stringify(payload) })
  }
  return [...carried.values()].toSorted((a, b) => a.seq - b.seq)
}
