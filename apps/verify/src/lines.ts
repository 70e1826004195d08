import { isUtf8 } from 'node:buffer'
import type { EntryText } from './pure.ts'
import { readFrontier } from './tree.ts'

/** The first line of an export: docs/ledger-format.md section 8. */
export interface Header {
  readonly type: 'header'
  readonly org_id: string
  readonly ledger_id: string
  readonly origin: string
  readonly vkey: string
  readonly from_seq: number
  /** The state after entry `from_seq` - 1. */
  readonly start?: {
    readonly hash: string
    readonly recorded_at: string
    readonly frontier: string
    /** The key that signs from this size on. */
    readonly vkey?: string
  }
  /** The export ends before the ledger: later entries may explain missing payloads. */
  readonly partial?: true
}

export interface Entry extends EntryText {
  readonly type: 'entry'
}

export interface LastLine {
  readonly type: 'checkpoint'
  readonly note: string
}

type Members = Record<string, unknown>

/** Parses one line of an export; null unless it has the only form that section 8 allows. */
export function readLine(text: string): Header | Entry | LastLine | null {
  try {
    const value = JSON.parse(text) as Members
    const { type } = value
    const read = type === 'header' ? header : type === 'entry' ? entry : checkpoint
    const spelled = read(value)
    return spelled !== undefined && JSON.stringify(spelled) === text ? spelled : null
  } catch {
    return null
  }
}

/*
 * Each gives the members of a line in their order, or undefined. A member that is doubled, added,
 * hidden or out of its order makes another text than the one that was read.
 */

function header(line: Members): Header | undefined {
  const { partial } = line
  const begun = beginning(line)
  if (begun === undefined || partial === undefined) return begun
  return partial === true ? { ...begun, partial } : undefined
}

function beginning(line: Members): Header | undefined {
  const { org_id, ledger_id, origin, vkey, from_seq, start } = line
  if (!isText(org_id) || !isText(ledger_id) || !isText(origin) || !isText(vkey)) return undefined
  if (!isCount(from_seq)) return undefined
  const format = 'ledger-export/v1'
  const plain = { type: 'header', format, org_id, ledger_id, origin, vkey, from_seq } as const
  if (start === undefined) return plain
  const { hash, recorded_at, frontier, vkey: key } = start as Members
  if (from_seq === 0 || !isText(hash) || !isText(recorded_at) || !isText(frontier)) return undefined
  if (readFrontier(from_seq, frontier) === null) return undefined
  if (key === undefined) return { ...plain, start: { hash, recorded_at, frontier } }
  return isText(key) ? { ...plain, start: { hash, recorded_at, frontier, vkey: key } } : undefined
}

function entry(line: Members): Entry | undefined {
  const { seq, recorded_at, kind, prev_hash, commitment, hash, salt, payload } = line
  if (!isCount(seq) || !isText(recorded_at) || !isText(kind) || !isText(prev_hash)) return undefined
  if (!isText(commitment) || !isText(hash)) return undefined
  if ((salt !== null && !isText(salt)) || (payload !== null && !isText(payload))) return undefined
  return { type: 'entry', seq, recorded_at, kind, prev_hash, commitment, hash, salt, payload }
}

function checkpoint({ note }: Members): LastLine | undefined {
  return isText(note) ? { type: 'checkpoint', note } : undefined
}

// An unpaired surrogate would be hashed as U+FFFD: two texts would have one commitment.
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed()

export const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** Far above the longest line of an export: a payload has at most 256 KiB. */
const MAX_LINE = 8 * 1024 * 1024

/**
 * Splits bytes into lines at U+000A only. A line that is not UTF-8, or too long, becomes '': no
 * valid line is empty.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string> {
  let pieces: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      yield decode([...pieces, chunk.subarray(from, end)], length + end - from)
      pieces = []
      length = 0
      from = end + 1
    }
    length += chunk.length - from
    // Excess bytes are counted, not stored.
    if (length > MAX_LINE) pieces = []
    else if (from < chunk.length) pieces.push(chunk.subarray(from))
  }
  if (length > 0) yield decode(pieces, length)
}

function decode(pieces: readonly Uint8Array[], length: number): string {
  if (length > MAX_LINE) return ''
  const bytes = Buffer.concat(pieces)
  return isUtf8(bytes) ? bytes.toString('utf8') : ''
}

/** Characters that steer a terminal, reorder text, end a line or are invisible; letters that look blank too. */
const UNSEEN =
  /[\u{16FE4}\p{C}\p{Zl}\p{Zp}[\p{Zs}--\x20]\p{Default_Ignorable_Code_Point}\u2800\uFFFC\u{13441}\u{13442}\u{1D159}]/gv

/** Makes text of a file safe for a terminal. */
export const printable = (text: string): string =>
  text.replaceAll(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
