import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerCutRow, LedgerHeadRow } from '../../db/schema.ts'
import { fail } from '../../base/errors.ts'
import type { Failure } from '../../base/errors.ts'
import { findCut, ownEntries, pointAt } from '../store/cut.ts'
import { GENESIS_KIND, parsePayload } from '../format/entry.ts'
import { formatCheckpointLine, formatEntryLine, formatHeaderLine } from './export-lines.ts'
import { missingHead } from '../write/head-guard.ts'
import { piecesOf } from '../store/pieces.ts'
import { findCheckpoint, findHead, readRange, readSizes } from '../store/store.ts'
import { hasErasureSince } from '../store/pages.ts'

type Db = Database<CoreTables>

/** Entries looked at together; they are read in pieces. */
const PAGE = 1_000

/** What of a ledger is exported: all of it, unless said otherwise. */
export interface ExportPart {
  /** The last sequence number that the reader has. */
  readonly afterSeq?: number | undefined
  /** Only the first so many entries; a checkpoint of that size must be kept. */
  readonly size?: number | undefined
}

/**
 * An export as text, a page at a time. It begins where the ledger does: at genesis, or at the cut of
 * the last pruning; it ends where the ledger did when it began, or later where something was erased
 * meanwhile. Throws `ledger_pruned` where the reader would miss entries that are there no more;
 * so does the text, without an end, if they go while it is read.
 */
export async function openExport(
  db: Db,
  orgId: string,
  { afterSeq, size }: ExportPart,
  paced: Paced = (read) => read(),
): Promise<AsyncGenerator<string>> {
  const head = await findHead(db, orgId)
  if (!head) throw missingHead()
  const cut = await findCut(db, orgId)
  const begin = cut?.size ?? 0
  const from = afterSeq === undefined ? begin : afterSeq + 1
  if (from < begin) {
    throw fail(
      'ledger_pruned',
      `Entries after ${afterSeq} were pruned: the ledger begins at ${begin}`,
    )
  }
  const end = await endOf(db, head, size, cut)
  const header = formatHeaderLine({
    org_id: orgId,
    ledger_id: await ledgerIdOf(db, orgId, cut),
    origin: head.origin,
    vkey: end.vkey,
    from_seq: from,
    ...(from > 0 && from <= end.size && { start: await startAt(db, orgId, from, cut) }),
    ...(end.size < head.size && { partial: true as const }),
  })
  const text = end.size < head.size ? partOf : wholeOf
  return text({ db, orgId, paced }, from, end, header)
}

/** Does one piece of reading when it is its turn. */
type Paced = (read: () => Promise<string>) => Promise<string>

interface Source {
  readonly db: Db
  readonly orgId: string
  readonly paced: Paced
}

type End = Pick<LedgerHeadRow, 'size' | 'note' | 'vkey'>

/** What explains that a payload is missing may come later than a part of the ledger ends. */
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
 * To the end. What was erased while it was read is missing in it, so it goes on until it has the entry
 * that tells of that; without it nobody could tell an erasure from tampering.
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
      throw fail('ledger_unavailable', 'The signing key changed while the ledger was exported')
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
    const pieces = piecesOf(await readSizes(db, orgId, { from: next, to: size }, PAGE))
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
  fail('ledger_pruned', `The entry ${seq} went while it was exported`)

async function endOf(
  db: Db,
  head: LedgerHeadRow,
  size: number | undefined,
  cut: LedgerCutRow | undefined,
): Promise<End> {
  if (size === undefined || size === head.size) return head
  const note = await findCheckpoint(db, head.org_id, size)
  if (note === undefined) throw fail('size_not_signed', `No checkpoint of size ${size} is kept`)
  return { size, note, vkey: (await pointAt(db, head.org_id, size, cut)).vkey ?? head.vkey }
}

async function startAt(db: Db, orgId: string, size: number, cut: LedgerCutRow | undefined) {
  const { hash, recorded_at, frontier, vkey } = await pointAt(db, orgId, size, cut)
  return { hash, recorded_at, frontier, ...(vkey !== null && { vkey }) }
}

/** Genesis names the ledger, and so does each record of a pruning. */
export async function ledgerIdOf(
  db: Db,
  orgId: string,
  cut: LedgerCutRow | undefined,
): Promise<string> {
  const kind = cut ? 'ledger.pruned' : GENESIS_KIND
  const [entry] = await ownEntries(db, orgId, kind, { last: 1 })
  return String(parsePayload(entry?.payload ?? '')?.data['ledger_id'])
}
