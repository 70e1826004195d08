import { carriedEntries, findCut, ownEntries, parseCarried, parsePayload } from '@remit/core'
import type { Database } from '@remit/core'
import type { FactRow } from '../facts/index.ts'
import type { Tables } from '../tables/schema.ts'

/** What a ledger says of entries that are no longer there. */
export interface Carried {
  readonly rows: readonly FactRow[]
  /** The last entry that tells of what was pruned; -1 where nothing was. */
  readonly to: number
  /** Milliseconds from which on every entry is there; null where nothing was pruned. */
  readonly keptFrom: number | null
}

/**
 * What prunings carried over of the entries that they removed, in the order in which these stood: it
 * goes into a fold before the entries do. A later pruning carries on what an earlier one did; one that
 * was interrupted carried what is still there itself, which is left out. Of what was erased since, the
 * header stands behind the record of the pruning.
 *
 * Nothing here is verified: that is for the pass over the ledger, which reads the same entries.
 */
export async function readCarried(db: Database<Tables>, orgId: string): Promise<Carried> {
  const cut = await findCut(db, orgId)
  if (!cut) return { rows: [], to: -1, keptFrom: null }
  const record = await findRecord(db, orgId, cut.size)
  let to = record
  const carried = new Map<number, FactRow>()
  for await (const row of carriedEntries(db, orgId, { from: cut.size })) {
    const entry = parseCarried(row)
    if (!entry || entry.seq >= cut.size) continue
    const { seq, recorded_at, kind, payload } = entry
    const isErased = payload === null
    if (row.seq > record && !isErased) continue
    to = Math.max(to, row.seq)
    carried.set(seq, {
      seq,
      recorded_at,
      kind,
      payload: isErased ? null : JSON.stringify(payload),
    })
  }
  const rows = [...carried.values()].toSorted((a, b) => a.seq - b.seq)
  // The last entry that went was recorded at the time of the cut.
  const last = Date.parse(cut.recorded_at)
  return { rows, to, keptFrom: Number.isNaN(last) ? null : last + 1 }
}

/** Where the entry stands that tells of the cut. Where it is not the newest of its kind, all may be it. */
async function findRecord(db: Database<Tables>, orgId: string, cut: number): Promise<number> {
  const [newest] = await ownEntries(db, orgId, 'ledger.pruned', { last: 1 })
  const isOfCut = parsePayload(newest?.payload ?? '')?.data['cut'] === cut
  return newest && isOfCut ? newest.seq : Number.MAX_SAFE_INTEGER
}
