import { readData } from '@remit/contract/entries'
import type { Database } from '@remit/core/db/open'
import { parseCarried, parsePayload } from '@remit/core/ledger/proofs'
import { carriedEntries, findCut, ownEntries } from '@remit/core/ledger/records'
import type { FactRow } from '../facts/index.ts'
import type { Tables } from '../tables/schema.ts'

/** The carried-over content of entries that were pruned. */
export interface CarriedEntries {
  readonly rows: readonly FactRow[]
  /** The last entry that records a pruning; -1 if none. */
  readonly to: number
  /** Milliseconds from which all entries are kept; null if none was pruned. */
  readonly keptFrom: number | null
}

/**
 * Reads the entries that prunings carried over, in their original order; a fold processes them
 * before the entries. A later pruning carries over those of an earlier one. Entries that an
 * interrupted pruning carried over but did not remove are skipped. An entry that was erased since
 * has its header after the record of the pruning.
 *
 * Nothing here is verified: the pass over the ledger verifies the same entries.
 */
export async function readCarriedEntries(
  db: Database<Tables>,
  orgId: string,
): Promise<CarriedEntries> {
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
  // The last removed entry was recorded at the time of the cut.
  const last = Date.parse(cut.recorded_at)
  return { rows, to, keptFrom: Number.isNaN(last) ? null : last + 1 }
}

/**
 * The position of the entry that records the cut. If it is not the newest of its kind, all are
 * candidates.
 */
async function findRecord(db: Database<Tables>, orgId: string, cut: number): Promise<number> {
  const [newest] = await ownEntries(db, orgId, 'ledger.pruned', { last: 1 })
  const record = readData('ledger.pruned', parsePayload(newest?.payload ?? '')?.data)
  return newest && record.cut === cut ? newest.seq : Number.MAX_SAFE_INTEGER
}
