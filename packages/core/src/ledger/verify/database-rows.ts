import type { LedgerEntryRow, CoreTables, LedgerCutRow } from '../../db/schema.ts'
import type { Database } from '../../db/open.ts'
import { invalid } from '../../base/errors.ts'
import { cutFrontier, pointAt } from '../store/cut.ts'
import { isSize, TILE_WIDTH } from '../format/merkle.ts'
import type { DatabaseFindings } from './database-report.ts'
import { readNodes } from '../store/list.ts'
import type { LedgerState } from '../store/list.ts'
import type { ChainStart } from './report.ts'
import type { TreeNode } from '../format/link.ts'

const TEXTS = ['org_id', 'prev_hash', 'hash', 'recorded_at', 'kind', 'commitment'] as const
/** Copies of payload fields that filters use. */
export const COPIES = ['agent_id', 'actor_id', 'action', 'decision'] as const
const OPTIONAL_TEXTS = ['salt', 'payload', ...COPIES] as const

type Column = keyof LedgerEntryRow

/**
 * Returns the first column with a value of an invalid type, or null. SQLite stores any type, and a
 * BLOB with the bytes of a text would be hashed like that text.
 */
export function oddColumn(row: LedgerEntryRow): Column | null {
  if (areTexts(row)) return null
  if (!Number.isSafeInteger(row.seq)) return 'seq'
  for (const name of TEXTS) if (typeof row[name] !== 'string') return name
  for (const name of OPTIONAL_TEXTS) {
    if (row[name] !== null && typeof row[name] !== 'string') return name
  }
  return null
}

// Written out: a loop over names takes five times as long, for every row.
const areTexts = (row: LedgerEntryRow): boolean =>
  Number.isSafeInteger(row.seq) &&
  typeof row.org_id === 'string' &&
  typeof row.prev_hash === 'string' &&
  typeof row.hash === 'string' &&
  typeof row.recorded_at === 'string' &&
  typeof row.kind === 'string' &&
  typeof row.commitment === 'string' &&
  typeof row.salt === 'string' &&
  typeof row.payload === 'string' &&
  isTextOrNull(row.agent_id) &&
  isTextOrNull(row.actor_id) &&
  isTextOrNull(row.action) &&
  isTextOrNull(row.decision)

const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string'

/**
 * Returns the row with text in every column, so that the verification can continue after an invalid
 * one.
 */
export function asText(row: LedgerEntryRow): LedgerEntryRow {
  const texts = (names: readonly Column[]) =>
    names.map((name) => [name, row[name] === null ? null : `${row[name]}`] as const)
  return { ...row, ...(Object.fromEntries([...texts(TEXTS), ...texts(OPTIONAL_TEXTS)]) as object) }
}

/**
 * Returns the first index column that differs from the payload, or null. Responses do not contain
 * these columns, but filters use them. Copies of an erased payload must be erased too.
 */
export function wrongCopy(row: LedgerEntryRow): Column | null {
  if (row.payload !== null && saysTheSame(row.payload, row)) return null
  const truth = row.payload === null ? NOTHING : copiesIn(row.payload)
  for (const name of COPIES) if (row[name] !== truth[name]) return name
  return null
}

type Copies = { readonly [name in (typeof COPIES)[number]]: unknown }

const NOTHING: Copies = { agent_id: null, actor_id: null, action: null, decision: null }

/**
 * Checks that a payload has exactly these values, by its text: canonical JSON has its members in a
 * fixed order, and an unescaped quote cannot occur inside a string. True is certain; false requires
 * parsing, which takes longer than hashing the payload.
 */
function saysTheSame(payload: string, copies: Pick<LedgerEntryRow, keyof Copies>): boolean {
  let at = pass(payload, 0, '{"action":', copies.action)
  at = pass(payload, at, ',"actor":{"id":', copies.actor_id)
  if (at < 0 || !payload.startsWith(',"type":"', at)) return false
  at = payload.indexOf('"', at + ',"type":"'.length)
  at = pass(payload, at, '"},"agent_id":', copies.agent_id)
  if (at < 0 || !payload.startsWith(',"data":{', at)) return false
  // The data may contain such members too, but only the last ones are those of the payload itself.
  let end = payload.length - 1
  if (payload.charCodeAt(end) !== CLOSED) return false
  end = passBack(payload, end, ',"resource":')
  end = passBack(payload, end, ',"reason":')
  const from = end - ',"decision":'.length - (copies.decision?.length ?? 2) - 2
  return from > at && pass(payload, from, ',"decision":', copies.decision) === end
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const CLOSED = 0x7d

/** Returns the position after a label and a value at `at`; -1 if they differ, or may differ. */
function pass(text: string, at: number, label: string, value: string | null): number {
  if (at < 0 || !text.startsWith(label, at)) return -1
  const from = at + label.length
  if (value === null) return text.startsWith('null', from) ? from + 4 : -1
  if (text.charCodeAt(from) !== QUOTE || !text.startsWith(value, from + 1)) return -1
  const to = from + 1 + value.length
  // The text ends at its first quote; a text with an escape has another value.
  return text.indexOf('"', from + 1) === to && !value.includes('\\') ? to + 1 : -1
}

/**
 * Returns the start of a label whose value, a text without escapes or null, ends before `end`; -1
 * for none.
 */
function passBack(text: string, end: number, label: string): number {
  let from = end - 4
  if (text.charCodeAt(end - 1) === QUOTE) {
    for (from = end - 2; text.charCodeAt(from) !== QUOTE; from--)
      if (from < 0 || text.charCodeAt(from) === BACKSLASH) return -1
  } else if (from < 0 || !text.startsWith('null', from)) return -1
  from -= label.length
  return from >= 0 && text.startsWith(label, from) ? from : -1
}

function copiesIn(payload: string): Copies {
  try {
    const content = JSON.parse(payload) as Record<string, unknown> | null
    const { agent_id, action, decision, actor } = content ?? {}
    return {
      agent_id,
      action,
      decision,
      actor_id: (actor as { id?: unknown } | null | undefined)?.id,
    }
  } catch {
    // A payload that is not JSON has no fields to compare with.
    return { agent_id: undefined, actor_id: undefined, action: undefined, decision: undefined }
  }
}

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

const LOT = 256

/** Compares the inner nodes of the entries with the stored ones. */
export class NodeCheck {
  /** Number of completed nodes per level. */
  readonly #closed: number[] = []
  readonly #from: number
  #waiting: TreeNode[] = []
  readonly #db: Database<CoreTables>
  readonly #orgId: string
  readonly #findings: DatabaseFindings

  /** `from` is the number of leaves that are assumed to be correct. */
  constructor(db: Database<CoreTables>, orgId: string, from: number, findings: DatabaseFindings) {
    this.#db = db
    this.#orgId = orgId
    this.#from = from
    this.#findings = findings
  }

  /** Adds the next root of 256^level leaves. */
  add(level: number, hash: string): void {
    const idx = this.#closed[level] ?? Math.floor(this.#from / TILE_WIDTH ** level)
    this.#closed[level] = idx + 1
    this.#waiting.push({ level, idx, hash })
  }

  /** Compares completed nodes: in batches, since a page of entries has few; `all` at the end. */
  async compare({ all }: { readonly all: boolean }): Promise<void> {
    if (!all && this.#waiting.length < LOT) return
    const nodes = this.#waiting
    this.#waiting = []
    for (const [level, computed] of Map.groupBy(nodes, (node) => node.level)) {
      const from = computed[0]?.idx ?? 0
      const stored = await readNodes(this.#db, this.#orgId, level, from, computed.length)
      for (const node of computed) this.#compareOne(node, stored.get(node.idx))
    }
  }

  /**
   * Reports nodes beyond those of a tree of `size` leaves; `stored` is their number from the cut
   * on.
   */
  compareCount(size: number, stored: number): void {
    let expected = 0
    for (let span = TILE_WIDTH; span <= size; span *= TILE_WIDTH) {
      expected += Math.floor(size / span) - Math.floor(this.#from / span)
    }
    if (stored > expected) {
      this.#findings.add(size - 1, 'node_unexpected', `${stored} nodes instead of ${expected}`)
    }
  }

  #compareOne({ level, idx, hash }: TreeNode, stored: string | undefined): void {
    this.#findings.nodesChecked++
    if (stored === hash) return
    this.#findings.nodesMismatched++
    const code = stored === undefined ? 'node_missing' : 'node_mismatch'
    this.#findings.add((idx + 1) * TILE_WIDTH ** level - 1, code, `level ${level}, index ${idx}`)
  }
}
