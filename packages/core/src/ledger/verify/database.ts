import { setImmediate } from 'node:timers/promises'
import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerEntryRow, LedgerHeadRow } from '../../db/schema.ts'
import { CheckpointError, sizeOfNote, parseVerifierKey } from '../format/note.ts'
import { isIntact, parsePayload } from '../format/entry.ts'
import { findCut, textIn } from '../store/cut.ts'
import { isSize } from '../format/merkle.ts'
import { DueCheckpoints, StoredCheckpoints } from './database-checkpoints.ts'
import { partOf, asText, oddColumn, wrongCopy, COPIES, NodeCheck } from './database-rows.ts'
import type { LedgerPart, SeqBounds } from './database-rows.ts'
import { DatabaseFindings } from './database-report.ts'
import type { VerifyReport } from './database-report.ts'
import { hasErasureSince, readState } from '../store/list.ts'
import type { LedgerState, Keys } from '../store/list.ts'
import { createChainVerifier } from './chain.ts'
import type { ChainVerifier } from './chain.ts'
import { BESIDE_PAYLOAD, bounded, MAX_READ_BYTES } from '../store/store.ts'

export interface VerifyDatabaseOptions extends SeqBounds {
  /**
   * Verifier keys as text, from outside the database. Without them, the result has no trust anchor.
   */
  readonly vkeys?: readonly string[]
  /** Checkpoint notes that were stored outside the database, including receipts. */
  readonly checkpoints?: readonly string[]
  /** Those of `checkpoints` that the witness must have signed, but did not: see `unwitnessed`. */
  readonly unwitnessed?: ReadonlySet<string>
  /** Called after each page with the number of processed entries and the total. */
  readonly onProgress?: (done: number, total: number) => void
  /** Called for each entry with a number after its check, with text in every text column. */
  readonly onEntry?: (row: LedgerEntryRow) => void
  /**
   * Also parse every payload and compare it with its canonical form: takes about three times as
   * long.
   */
  readonly deep?: boolean
}

const PAGE = 1_000
const MAX_RUNS = 3

type PagesDb = Database<CoreTables>

/**
 * Verifies the ledger of an organization up to the current size of its head: every entry, index
 * copy, checkpoint and inner node, and the head itself. Starts at genesis or at the cut of a pruned
 * ledger; `from_seq` and `to_seq` (both inclusive) select a part, and the report lists the
 * omissions. Entries are final, so no lock is taken, and later appends do not matter. Throws
 * `NoteError` for a key, `CheckpointError` for an invalid checkpoint, `invalid_request` for a part
 * beyond the end, and errors of the database.
 */
export async function verifyDatabase(
  db: PagesDb,
  orgId: string,
  options: VerifyDatabaseOptions = {},
): Promise<VerifyReport> {
  for (let run = 1; ; run++) {
    const state = await readState(db, orgId)
    const findings = new DatabaseFindings()
    const part = await partOf(db, orgId, state, options, findings)
    const report = await new DatabaseWalk(db, orgId, options, state, part, findings).run()
    if (report.status !== 'tampered' || run === MAX_RUNS) return report
    // A payload that was erased meanwhile is explained by an entry beyond this verification, and
    // entries that were pruned meanwhile are not missing.
    const isPruned = (await findCut(db, orgId))?.size !== state.cut?.size
    if (!isPruned && !(await hasErasureSince(db, orgId, part.size))) return report
  }
}

class DatabaseWalk {
  readonly #db: PagesDb
  readonly #orgId: string
  readonly #options: VerifyDatabaseOptions
  readonly #state: LedgerState
  readonly #part: LedgerPart
  readonly #findings: DatabaseFindings
  readonly #due: DueCheckpoints
  readonly #stored: StoredCheckpoints
  readonly #nodes: NodeCheck
  readonly #chain: ChainVerifier
  /** Expected number of the next entry; after a gap the nodes cannot be computed. */
  #next: number
  #whole = true
  #lastTime: string | null = null
  #origin: string | null = null

  constructor(
    db: PagesDb,
    orgId: string,
    options: VerifyDatabaseOptions,
    state: LedgerState,
    part: LedgerPart,
    findings: DatabaseFindings,
  ) {
    this.#db = db
    this.#orgId = orgId
    this.#options = options
    this.#state = state
    this.#part = part
    this.#findings = findings
    this.#next = part.from
    const { start, from, begin, to } = part
    this.#due = new DueCheckpoints(findings, from - 1, start?.recorded_at ?? '')
    // The checkpoint at the cut is included; one at the start of a part may have another key.
    const known = from === begin ? from - 1 : from
    const after = from === 0 ? null : known
    this.#stored = new StoredCheckpoints(db, orgId, { after, to }, findings)
    const unreadable = options.checkpoints?.findIndex((note) => sizeOfNote(note) === null) ?? -1
    if (unreadable >= 0)
      throw new CheckpointError(`Checkpoint ${unreadable} is not a checkpoint note`)
    this.#nodes = new NodeCheck(db, orgId, from, findings)
    this.#chain = createChainVerifier({
      org_id: orgId,
      verifiers: (options.vkeys ?? []).map(parseVerifierKey),
      deep: options.deep ?? false,
      ...(start && { start }),
      onTileNode: (level, hash) => {
        if (this.#whole) this.#nodes.add(level, hash)
      },
    })
  }

  async run(): Promise<VerifyReport> {
    const { checkpoints = [], unwitnessed, onProgress } = this.#options
    const { from, to } = this.#part
    for (const note of checkpoints)
      this.#chain.checkpoint(note, { external: true, unwitnessed: unwitnessed?.has(note) ?? false })
    const read = (after: number | null, again: boolean) =>
      readRows(this.#db, this.#orgId, { after, again, below: to }, PAGE)
    let after = from === 0 ? null : from - 1
    let rows = await read(after, false)
    let done = 0
    for (;;) {
      const kept = await this.#reach(rows, done === 0)
      const last = rows.at(-1)?.seq ?? after
      // A page of rows with one number must not be read forever.
      const again = last !== after
      after = last
      // PostgreSQL reads the next page while this one is hashed.
      const next = rows.length < PAGE ? null : read(after, again)
      // An early end of the iteration does not wait for it.
      next?.catch(() => undefined)
      for await (const lot of lotsOf(this.#db, rows)) {
        for (const row of this.#sound(lot)) this.#row(row, kept)
      }
      done += rows.length
      onProgress?.(done, to - from)
      // SQLite returns without yielding to the event loop.
      await setImmediate()
      rows = (await next) ?? []
      await this.#nodes.compare({ all: next === null })
      if (next === null) return this.#end(after)
    }
  }

  /** Passes on the checkpoints of some entries, and returns their sizes. */
  async #reach(rows: readonly LedgerEntryRow[], first: boolean): Promise<ReadonlySet<number>> {
    const kept = new Set<number>()
    const last = rows.at(-1)
    if (!last) return kept
    for (const { size, note } of await this.#stored.upTo(last.seq + 1)) {
      kept.add(size)
      this.#chain.checkpoint(note)
    }
    const { begin, from } = this.#part
    // The entries that make it due are gone, but every cut is at a stored one.
    if (first && begin > 0 && from === begin && !kept.has(begin)) {
      this.#findings.add(begin, 'checkpoint_missing', 'of the cut')
    }
    return kept
  }

  /**
   * Returns the rows with text in every text column, after a check of each. A separate pass: in one
   * loop with the hashing it takes twice the time.
   */
  #sound(given: readonly LedgerEntryRow[]): LedgerEntryRow[] {
    let next = this.#next
    return given.map((one) => {
      const odd = oddColumn(one)
      const seq = odd === 'seq' ? next : one.seq
      next = seq + 1
      if (odd !== null) this.#findings.add(seq, 'malformed_row', odd)
      const row = odd === null ? one : asText(one)
      const copy = wrongCopy(row)
      if (copy !== null) this.#findings.add(seq, 'copy_mismatch', copy)
      return row
    })
  }

  #row(row: LedgerEntryRow, kept: ReadonlySet<number>): void {
    const { seq } = row
    if (seq !== this.#next) this.#whole = false
    if (seq === 0) this.#record(row)
    else if (row.kind === 'ledger.pruned') this.#pruned(row)
    this.#chain.entry(row)
    if (seq >= 0) this.#due.entry(row, kept.has(seq + 1))
    const isNumbered = Number.isSafeInteger(seq)
    if (isNumbered) this.#options.onEntry?.(row)
    this.#next = (isNumbered ? seq : this.#next) + 1
    this.#lastTime = row.recorded_at
  }

  /** A record of pruning must be that of the cut, or of an earlier one. */
  #pruned(row: LedgerEntryRow): void {
    const { seq, payload } = row
    const { cut } = parsePayload(payload ?? '')?.data ?? {}
    const { begin } = this.#part
    if (cut === begin) this.#record(row)
    else if (typeof cut === 'number' && cut > begin) {
      this.#findings.add(seq, 'bad_cut', `the ledger starts at seq ${begin}, not at ${cut}`)
    }
  }

  /** Keeps the origin that an entry records, unless the entry was changed. */
  #record(row: LedgerEntryRow): void {
    if (isIntact(row)) this.#origin = textIn(row.payload, 'origin')
  }

  async #end(after: number | null): Promise<VerifyReport> {
    const { head, last_seq: lastSeq, last_checkpoint: lastCheckpoint } = this.#state
    const { begin, from, to, size } = this.#part
    if (to < size) return this.#findings.join(this.#chain.finish({ stopped: true }))
    // Checkpoints beyond the end existed when the head was read: no append explains them.
    if (lastCheckpoint !== null && lastCheckpoint > (after ?? -1) + 1) {
      for (const { note } of await this.#stored.beyond(lastCheckpoint)) this.#chain.checkpoint(note)
    }
    this.#due.end()
    if (this.#state.beyond > 0) {
      const isNumbered = lastSeq !== null && lastSeq >= size
      const which = isNumbered ? `up to seq ${lastSeq}` : 'with a seq that is not a number'
      this.#findings.add(size, 'beyond_head', `entries ${which}`)
    }
    if (head === null) {
      this.#findings.add(Math.max(0, size - 1), 'head_missing')
      return this.#findings.join(this.#chain.finish())
    }
    this.#head(head)
    if (this.#whole && this.#next === size && from === begin)
      this.#nodes.compareCount(size, this.#state.nodes)
    const { hash, frontier, note, vkey } = head
    const checkpoint = typeof note === 'string' ? note : ''
    return this.#findings.join(
      this.#chain.finish({ head: { size: head.size, hash, frontier, checkpoint }, vkey }),
    )
  }

  /** Checks the parts of the head that the chain does not cover. */
  #head(head: LedgerHeadRow): void {
    const wrong = (column: keyof LedgerHeadRow) =>
      this.#findings.add(Math.max(0, this.#part.size - 1), 'head_mismatch', column)
    if (!isSize(head.size)) wrong('size')
    if (sizeOfNote(head.note) !== head.size) wrong('note')
    if (this.#next === head.size && head.recorded_at !== this.#lastTime) wrong('recorded_at')
    if (this.#origin !== null && head.origin !== this.#origin) wrong('origin')
  }
}

/** The start of a page. */
interface Place extends Keys {
  /**
   * True if more rows of the number `after` may follow, which is possible without the primary key.
   */
  readonly again: boolean
}

type EntryPagesDb = Database<CoreTables>

/** Maximum bytes of a payload that is read with its page; larger ones are read individually. */
const PAGED_BYTES = 16 * 1024

/** Maximum bytes of any other column: names and hashes are shorter. */
const MAX_TEXT_BYTES = 4096

/** All of them are compared with non-empty values. */
const COLUMNS = [...BESIDE_PAYLOAD, ...COPIES].map((name) =>
  name === 'seq' || name === 'org_id' ? name : bounded(name, MAX_TEXT_BYTES),
)

/** Placeholder of a payload that is read individually: no payload is empty. */
const APART = ''

/**
 * Returns up to `limit` entries in order, with the copies of payload fields for filters. Large
 * payloads are omitted (`lotsOf` reads them): a page of them would exceed the memory of a thread.
 */
async function readRows(
  db: EntryPagesDb,
  orgId: string,
  { after, again, below }: Place,
  limit: number,
): Promise<LedgerEntryRow[]> {
  let query = db
    .selectFrom('ledger_entry')
    .select([...COLUMNS, bounded('payload', PAGED_BYTES)])
    .where('org_id', '=', orgId)
  if (after !== null) query = query.where('seq', again ? '>=' : '>', after)
  const most = again ? limit + 1 : limit
  const found = query.where('seq', '<', below).orderBy('seq').limit(most)
  const rows = (await found.execute()) as LedgerEntryRow[]
  if (again && rows[0]?.seq === after) rows.shift()
  return rows
}

/** Splits a page into batches that fit into memory: those with large payloads individually. */
async function* lotsOf(
  db: EntryPagesDb,
  rows: readonly LedgerEntryRow[],
): AsyncGenerator<LedgerEntryRow[]> {
  let from = 0
  for (const [at, row] of rows.entries()) {
    if (row.payload !== APART) continue
    if (at > from) yield rows.slice(from, at)
    yield [await withPayload(db, row)]
    from = at + 1
  }
  if (from < rows.length) yield rows.slice(from)
}

/** Returns the row with its payload, unless that is larger than any valid one. */
async function withPayload(db: EntryPagesDb, row: LedgerEntryRow): Promise<LedgerEntryRow> {
  const found = await db
    .selectFrom('ledger_entry')
    .select(bounded('payload', MAX_READ_BYTES))
    .where('org_id', '=', row.org_id)
    .where('seq', '=', row.seq)
    .executeTakeFirst()
  return { ...row, payload: found ? found.payload : row.payload }
}
