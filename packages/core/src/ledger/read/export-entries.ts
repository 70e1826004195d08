import { parseJson } from '@remit/contract/json'
import { isUtf8 } from 'node:buffer'
import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerCutRow, LedgerHeadRow } from '../../db/schema.ts'
import { fail } from '../../base/errors.ts'
import type { Failure } from '../../base/errors.ts'
import { findCut, ownEntries, pointAt, recordedOrigin } from '../store/cut.ts'
import { GENESIS_KIND, parsePayload } from '../format/entry.ts'
import type { StoredEntry } from '../format/entry.ts'
import { missingHead } from '../write/head-guard.ts'
import { signingKeys } from './signing-keys.ts'
import { slicesOf, findCheckpoint, findHead, readRange, readSizes } from '../store/store.ts'
import { hasErasureSince } from '../store/list.ts'
import { decodeFrontier } from '../format/merkle.ts'

type PagesDb = Database<CoreTables>

/** Entries per page; they are read in smaller slices. */
const PAGE = 1_000

/** The part of a ledger to export; by default, all of it. */
export interface ExportPart {
  /** The last sequence number that the reader has. */
  readonly afterSeq?: number | undefined
  /** Only the first `size` entries; a checkpoint of that size must be stored. */
  readonly size?: number | undefined
}

/**
 * Returns an export as text, page by page. It starts at genesis or at the last cut, and ends at the
 * current end of the ledger, or later if entries are erased during the export; without a head, at the
 * newest stored checkpoint. Throws `ledger_pruned` if the reader would miss pruned entries; the text
 * throws it too if they are pruned while it is read.
 */
export async function openExport(
  db: PagesDb,
  orgId: string,
  { afterSeq, size }: ExportPart,
  paced: Paced = (read) => read(),
): Promise<AsyncGenerator<string>> {
  const head = await findHead(db, orgId)
  const cut = await findCut(db, orgId)
  const begin = cut?.size ?? 0
  const from = afterSeq === undefined ? begin : afterSeq + 1
  if (from < begin) {
    throw fail(
      'ledger_pruned',
      `Entries after ${afterSeq} were pruned; the ledger starts at ${begin}`,
    )
  }
  const end = await endOf(db, orgId, head, size)
  // Without a head, there may be entries after the newest stored checkpoint.
  const isPart = end !== head
  const header = formatHeaderLine({
    org_id: orgId,
    ledger_id: await ledgerIdOf(db, orgId, cut),
    origin: (await recordedOrigin(db, orgId)) ?? head?.origin ?? '',
    vkey: end.vkey,
    from_seq: from,
    ...(from > 0 && from <= end.size && { start: await startAt(db, orgId, from, cut) }),
    ...(isPart && { partial: true as const }),
  })
  const text = isPart ? partOf : wholeOf
  return text({ db, orgId, paced }, from, end, header)
}

/** Runs one read when it is its turn. */
type Paced = (read: () => Promise<string>) => Promise<string>

interface Source {
  readonly db: PagesDb
  readonly orgId: string
  readonly paced: Paced
}

type End = Pick<LedgerHeadRow, 'size' | 'note' | 'vkey'>

/** The explanation of a missing payload may follow after the part. */
async function* partOf(
  source: Source,
  from: number,
  { size, note }: End,
  header: string,
): AsyncGenerator<string> {
  yield header
  yield* linesOf(source, from, size)
  yield formatCheckpointLine(note)
}

/**
 * Exports to the end. Payloads erased during the export are missing in it, so it continues to the
 * entry that records the erasure; without that entry, the erasure would look like tampering.
 */
async function* wholeOf(
  source: Source,
  from: number,
  begun: End,
  header: string,
): AsyncGenerator<string> {
  yield header
  yield* linesOf(source, from, begun.size)
  let end = begun
  while (await hasErasureSince(source.db, source.orgId, end.size)) {
    const now = await findHead(source.db, source.orgId)
    if (!now || now.size <= end.size) break
    if (now.vkey !== begun.vkey)
      throw fail('ledger_unavailable', 'The signing key changed during the export')
    yield* linesOf(source, end.size, now.size)
    end = now
  }
  yield formatCheckpointLine(end.note)
}

async function* linesOf(
  { db, orgId, paced }: Source,
  from: number,
  size: number,
): AsyncGenerator<string> {
  for (let next = from; next < size;) {
    const pieces = slicesOf(await readSizes(db, orgId, { from: next, to: size }, PAGE))
    if (pieces[0]?.from !== next) throw gone(next)
    for (const piece of pieces) {
      yield await paced(async () => {
        const entries = await readRange(db, orgId, piece)
        if (entries[0]?.seq !== piece.from) throw gone(piece.from)
        return entries.map(formatEntryLine).join('')
      })
      next = piece.to
    }
  }
}

const gone = (seq: number): Failure =>
  fail('ledger_pruned', `Entry ${seq} was removed during the export`)

/** Returns the head, or a stored checkpoint with the key in force at its size. */
async function endOf(
  db: PagesDb,
  orgId: string,
  head: LedgerHeadRow | undefined,
  size: number | undefined,
): Promise<End> {
  if (head && (size === undefined || size === head.size)) return head
  const kept = await findCheckpoint(db, orgId, size)
  if (kept) {
    const keys = await signingKeys(db, orgId)
    const key = keys.findLast(({ from_seq }) => from_seq <= kept.size)
    return { ...kept, vkey: key?.vkey ?? '' }
  }
  if (size === undefined) throw missingHead()
  throw fail('size_not_signed', `No checkpoint of size ${size} is stored`)
}

async function startAt(db: PagesDb, orgId: string, size: number, cut: LedgerCutRow | undefined) {
  const { hash, recorded_at, frontier, vkey } = await pointAt(db, orgId, size, cut)
  return { hash, recorded_at, frontier, ...(vkey !== null && { vkey }) }
}

/** Returns the ledger id, which genesis and each record of a pruning name. */
export async function ledgerIdOf(
  db: PagesDb,
  orgId: string,
  cut: LedgerCutRow | undefined,
): Promise<string> {
  const kind = cut ? 'ledger.pruned' : GENESIS_KIND
  const [entry] = await ownEntries(db, orgId, kind, { last: 1 })
  return String(parsePayload(entry?.payload ?? '')?.data['ledger_id'])
}

const EXPORT_FORMAT = 'ledger-export/v1'

export interface ExportHeader {
  readonly type: 'header'
  readonly org_id: string
  readonly ledger_id: string
  readonly origin: string
  /** The key in force. Informative: verifiers must get the key from elsewhere. */
  readonly vkey: string
  readonly from_seq: number
  /**
   * The state before the first entry, if that is not genesis; without it, roots cannot be compared.
   */
  readonly start?: ExportStart
  /** The export ends before the end of the ledger: later entries may explain missing payloads. */
  readonly partial?: true
}

interface ExportStart {
  readonly hash: string
  readonly recorded_at: string
  /** In the format of `encodeFrontier`. */
  readonly frontier: string
  /**
   * The key that signs this size and larger ones. Omitted directly after a rotation, where they
   * differ.
   */
  readonly vkey?: string
}

type ExportEntry = { readonly type: 'entry' } & Omit<StoredEntry, 'org_id'>
type ExportLine =
  | ExportHeader
  | ExportEntry
  | { readonly type: 'checkpoint'; readonly note: string }

/** Formats the first line of an export, with its newline. */
export function formatHeaderLine(header: Omit<ExportHeader, 'type'>): string {
  const { org_id, ledger_id, origin, vkey, from_seq, start, partial } = header
  const line = { type: 'header', format: EXPORT_FORMAT, org_id, ledger_id, origin, vkey, from_seq }
  const more = { ...(start && { start: stateOf(start) }), ...(partial && { partial }) }
  return `${JSON.stringify({ ...line, ...more })}\n`
}

/** The members in their order. */
function stateOf({ hash, recorded_at, frontier, vkey }: ExportStart): ExportStart {
  return { hash, recorded_at, frontier, ...(vkey !== undefined && { vkey }) }
}

/**
 * Formats the line of an entry, with its newline. The payload is a string, because its bytes are
 * hashed.
 */
export function formatEntryLine(entry: Omit<StoredEntry, 'org_id'>): string {
  const { seq, recorded_at, kind, prev_hash, commitment, hash, salt, payload } = entry
  const line = { type: 'entry', seq, recorded_at, kind, prev_hash, commitment, hash, salt, payload }
  return `${JSON.stringify(line)}\n`
}

/** Formats the last line of an export, with its newline. */
export function formatCheckpointLine(note: string): string {
  return `${JSON.stringify({ type: 'checkpoint', note })}\n`
}

/**
 * Parses one line, with or without its newline. Null unless it is exactly the output of the
 * functions above, so that no member can be repeated, added or hidden.
 */
export function parseExportLine(text: string): ExportLine | null {
  const line = text.endsWith('\n') ? text.slice(0, -1) : text
  const value = parseObject(line)
  if (value === null) return null
  const known = isHeader(value) || isEntry(value) || isCheckpoint(value) ? value : null
  return known !== null && formatLine(known) === `${line}\n` ? known : null
}

function formatLine(line: ExportLine): string {
  if (line.type === 'header') return formatHeaderLine(line)
  return line.type === 'entry' ? formatEntryLine(line) : formatCheckpointLine(line.note)
}

type Members = Readonly<Record<string, unknown>>

function parseObject(text: string): Members | null {
  const value = parseJson(text)
  return typeof value === 'object' && value !== null ? (value as Members) : null
}

function isHeader(line: Members): line is ExportHeader & Members {
  const { type, from_seq: from, start, partial } = line
  return (
    type === 'header' &&
    areStrings(line, ['org_id', 'ledger_id', 'origin', 'vkey']) &&
    isSeq(from) &&
    (start === undefined || isStart(from, start)) &&
    (partial === undefined || partial === true)
  )
}

function isStart(size: number, start: unknown): start is ExportStart {
  if (size === 0 || typeof start !== 'object' || start === null) return false
  if (!areStrings(start as Members, ['hash', 'recorded_at', 'frontier'])) return false
  if ('vkey' in start && !isText(start.vkey)) return false
  try {
    decodeFrontier(size, (start as ExportStart).frontier)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function isEntry(line: Members): line is ExportEntry & Members {
  return (
    line['type'] === 'entry' &&
    isSeq(line['seq']) &&
    areStrings(line, ['recorded_at', 'kind', 'prev_hash', 'commitment', 'hash']) &&
    [line['salt'], line['payload']].every((text) => text === null || isText(text))
  )
}

function isCheckpoint(line: Members): line is { type: 'checkpoint'; note: string } & Members {
  return line['type'] === 'checkpoint' && areStrings(line, ['note'])
}

function areStrings(line: Members, names: readonly string[]): boolean {
  return names.every((name) => isText(line[name]))
}

// An unpaired surrogate would be hashed as U+FFFD: different texts would have one commitment.
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed()
}

function isSeq(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** Far above the longest valid line: a payload has at most 256 KiB. */
const MAX_LINE_BYTES = 8 * 2 ** 20

/**
 * Splits the bytes of an export into lines. Not `node:readline`, which also splits at U+2028, an
 * ordinary character inside JSON strings. A line that is not UTF-8, or too long, becomes empty, which is
 * never a valid line.
 */
export async function* exportLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string> {
  let parts: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      yield decodeLine([...parts, chunk.subarray(from, end)], length + end - from)
      parts = []
      length = 0
      from = end + 1
    }
    length += chunk.length - from
    // The rest of a line that is too long is only counted.
    if (length > MAX_LINE_BYTES) parts = []
    else if (from < chunk.length) parts.push(chunk.subarray(from))
  }
  if (length > 0) yield decodeLine(parts, length)
}

function decodeLine(parts: readonly Uint8Array[], length: number): string {
  if (length > MAX_LINE_BYTES) return ''
  const bytes = Buffer.concat(parts)
  return isUtf8(bytes) ? bytes.toString('utf8') : ''
}
