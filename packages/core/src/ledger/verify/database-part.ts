import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerCutRow } from '../../db/schema.ts'
import { invalid } from '../../base/errors.ts'
import { cutFrontier, pointAt } from '../store/cut.ts'
import { isSize } from '../format/tiles.ts'
import type { DatabaseFindings } from './database-report.ts'
import type { LedgerState } from '../store/pages.ts'
import type { ChainStart } from './types.ts'

/** The entries of a verification, and the state before them. */
export interface LedgerPart {
  /** The start of the ledger: 0, or the size of its cut. */
  readonly begin: number
  /** The first sequence number to read, and the one after the last. */
  readonly from: number
  readonly to: number
  /** The size of the head, or else of the entries themselves. */
  readonly size: number
  readonly start: ChainStart | undefined
}

/** Sequence numbers of a request, both inclusive. */
export interface SeqBounds {
  readonly from_seq?: number
  readonly to_seq?: number
}

/**
 * Returns the part of a ledger to verify. Throws `invalid_request` for a start beyond the end; an
 * end beyond the end is the end, and a start below the cut is the cut.
 */
export async function partOf(
  db: Database<CoreTables>,
  orgId: string,
  state: LedgerState,
  { from_seq = 0, to_seq = Infinity }: SeqBounds,
  findings: DatabaseFindings,
): Promise<LedgerPart> {
  const { head, last_seq: lastSeq } = state
  const size = isSize(head?.size) ? (head?.size ?? 0) : (lastSeq ?? -1) + 1
  if (from_seq > to_seq) throw invalid('from_seq', 'must not be greater than to_seq')
  if (from_seq > 0 && from_seq >= size) throw invalid('from_seq', `must be below ${size}`)
  const cut = state.cut === null ? undefined : startOf(state.cut, findings)
  const begin = cut?.size ?? 0
  const from = Math.max(begin, from_seq)
  if (state.first_seq !== null && state.first_seq < begin) findings.notChecked.push(LEFT_OVER)
  const start = from === begin ? cut : await pointOf(db, orgId, from, state.cut ?? undefined)
  return { begin, from, to: Math.max(from, Math.min(size, to_seq + 1)), size, start }
}

const LEFT_OVER =
  'Entries below the cut that are still stored after an interrupted pruning: no query reads them, and `remit ledger prune` removes them.'

/** Returns the state at the cut; undefined for an invalid row. */
function startOf(cut: LedgerCutRow, findings: DatabaseFindings): ChainStart | undefined {
  const { size } = cut
  const wrong = (column: keyof LedgerCutRow) => findings.add(0, 'bad_cut', `the row: ${column}`)
  if (!isSize(size) || size === 0) {
    wrong('size')
    return undefined
  }
  const text = (column: keyof LedgerCutRow): string => {
    const value: unknown = cut[column]
    if (typeof value === 'string') return value
    wrong(column)
    return ''
  }
  const known = {
    size,
    hash: text('hash'),
    recorded_at: text('recorded_at'),
    vkey: text('vkey'),
  }
  try {
    cutFrontier(cut)
    return { ...known, frontier: cut.frontier, pruned: true }
  } catch {
    wrong('frontier')
    return { ...known, pruned: true }
  }
}

/** Returns the state in the middle from the stored rows; a root further on confirms it. */
async function pointOf(
  db: Database<CoreTables>,
  orgId: string,
  size: number,
  cut: LedgerCutRow | undefined,
): Promise<ChainStart> {
  try {
    const { vkey, ...point } = await pointAt(db, orgId, size, cut)
    return { size, ...point, ...(vkey !== null && { vkey }) }
  } catch (error) {
    // Rows are missing or have a type that the server never writes.
    if (error instanceof RangeError || error instanceof TypeError) return { size }
    throw error
  }
}
