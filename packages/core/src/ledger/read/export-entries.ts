import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerCutRow, LedgerHeadRow } from '../../db/schema.ts'
import { fail } from '../../base/errors.ts'
import type { Failure } from '../../base/errors.ts'
import { findCut, ownEntries, pointAt, recordedOrigin } from '../store/cut.ts'
import { GENESIS_KIND, parsePayload } from '../format/entry.ts'
import { formatCheckpointLine, formatEntryLine, formatHeaderLine } from './export-lines.ts'
import { missingHead } from '../write/head-guard.ts'
import { signingKeys } from './signing-keys.ts'
import { slicesOf } from '../store/read-slices.ts'
import { findCheckpoint, findHead, readRange, readSizes } from '../store/store.ts'
import { hasErasureSince } from '../store/pages.ts'

type Db = Database<CoreTables>

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
  db: Db,
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
  readonly db: Db
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
  db: Db,
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

async function startAt(db: Db, orgId: string, size: number, cut: LedgerCutRow | undefined) {
  const { hash, recorded_at, frontier, vkey } = await pointAt(db, orgId, size, cut)
  return { hash, recorded_at, frontier, ...(vkey !== null && { vkey }) }
}

/** Returns the ledger id, which genesis and each record of a pruning name. */
export async function ledgerIdOf(
  db: Db,
  orgId: string,
  cut: LedgerCutRow | undefined,
): Promise<string> {
  const kind = cut ? 'ledger.pruned' : GENESIS_KIND
  const [entry] = await ownEntries(db, orgId, kind, { last: 1 })
  return String(parsePayload(entry?.payload ?? '')?.data['ledger_id'])
}
