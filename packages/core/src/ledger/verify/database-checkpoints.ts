import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerCheckpointRow, LedgerEntryRow } from '../../db/schema.ts'
import { sizeOfNote } from '../format/note.ts'
import { entryHash, headerOf } from '../format/entry.ts'
import { CHECKPOINT_EVERY, minuteOf } from '../store/store.ts'
import type { DatabaseFindings } from './database-report.ts'
import { readCheckpoints } from '../store/list.ts'
import type { Keys } from '../store/list.ts'

/** Number of entries for which checkpoints are read ahead: a page has few or none. */
const AHEAD = 16_384

/** Rows above the end of a ledger that are reported individually. */
const MOST_BEYOND = 1_000

/** The stored checkpoints of an organization, in order. */
export class StoredCheckpoints {
  readonly #db: Database<CoreTables>
  readonly #orgId: string
  readonly #to: number
  readonly #findings: DatabaseFindings
  /** Rows that were read, and the size up to which they were read. */
  #rows: readonly LedgerCheckpointRow[] = []
  #readTo: number | null

  /** Reads those of sizes above `after`, or all; `to` is the last size of the verification. */
  constructor(
    db: Database<CoreTables>,
    orgId: string,
    { after, to }: { readonly after: number | null; readonly to: number },
    findings: DatabaseFindings,
  ) {
    this.#db = db
    this.#orgId = orgId
    this.#readTo = after
    this.#to = to
    this.#findings = findings
  }

  /** Returns the valid ones from the end of the last call up to `size`. */
  async upTo(size: number): Promise<LedgerCheckpointRow[]> {
    if (this.#readTo === null || this.#readTo < size) {
      const readTo = Math.max(size, Math.min(size + AHEAD, this.#to))
      const keys = { after: this.#readTo, below: readTo + 1 }
      this.#rows = [...this.#rows, ...(await readCheckpoints(this.#db, this.#orgId, keys))]
      this.#readTo = readTo
    }
    return this.#taken(size)
  }

  /** Returns some of the unexpected ones above the end: the first ones, and the last one. */
  async beyond(last: number): Promise<LedgerCheckpointRow[]> {
    const read = (keys: Keys, most: number) => readCheckpoints(this.#db, this.#orgId, keys, most)
    const first = await read({ after: this.#readTo, below: last }, MOST_BEYOND)
    const newest = await read({ after: last - 1, below: last + 1 }, 1)
    this.#rows = [...this.#rows, ...first, ...newest]
    return this.#taken(last)
  }

  /** Takes the valid rows up to `size` out of those that were read. */
  #taken(size: number): LedgerCheckpointRow[] {
    const rows = this.#rows
    const later = rows.findIndex((row) => row.size > size)
    const reached = later < 0 ? rows : rows.slice(0, later)
    this.#rows = rows.slice(reached.length)
    return reached.filter((row) => isOfItsSize(row, this.#findings))
  }
}

/** Returns true if the note of a row has the size in its key. */
function isOfItsSize(row: LedgerCheckpointRow, findings: DatabaseFindings): boolean {
  if (sizeOfNote(row.note) === row.size) return true
  findings.checkpointsMismatched++
  const seq = Number.isSafeInteger(row.size) ? Math.max(0, row.size - 1) : 0
  findings.add(seq, 'malformed_checkpoint', `the row of size ${row.size}`)
  return false
}

const ROTATION = 'ledger.key_rotated'

/**
 * Checks that the stored checkpoints include those that the writer stores: at the end of the commit
 * that crosses a multiple of `CHECKPOINT_EVERY`, of the first commit of a minute and of a rotation.
 * The chain does not mark the ends of commits, but all entries of a commit have the same time.
 */
export class DueCheckpoints {
  /** The first entry after which one is due, and the time of its commit. */
  #due: { readonly seq: number; readonly time: string } | null = null
  #lastSeq: number
  #lastTime: string
  readonly #findings: DatabaseFindings

  /** `lastSeq` and `lastTime` are those of the previous entry, or -1 and an empty text. */
  constructor(findings: DatabaseFindings, lastSeq: number, lastTime: string) {
    this.#findings = findings
    this.#lastSeq = lastSeq
    this.#lastTime = lastTime
  }

  /** `kept` is true if a checkpoint is stored that ends with this entry. */
  entry(row: LedgerEntryRow, kept: boolean): void {
    const { seq, recorded_at: time } = row
    const follows = seq === this.#lastSeq + 1
    if (!follows) this.#due = null
    if (this.#due !== null && this.#due.time !== time) {
      // A time that differs from the hashed one is invalid and says nothing about commits.
      if (entryHash(headerOf(row)) !== row.hash) return
      this.end()
    }
    if ((seq + 1) % CHECKPOINT_EVERY === 0 || (follows && this.#beginsMinute(time))) {
      this.#due ??= { seq, time }
    }
    // The old key signs the new one with this checkpoint.
    if (row.kind === ROTATION && !kept) this.#findings.add(seq, 'checkpoint_missing', ROTATION)
    if (kept) this.#due = null
    this.#lastSeq = seq
    this.#lastTime = time
  }

  /** Ends the last commit. */
  end(): void {
    if (this.#due !== null) this.#findings.add(this.#due.seq, 'checkpoint_missing')
    this.#due = null
  }

  #beginsMinute(time: string): boolean {
    const last = this.#lastTime
    return time !== last && last !== '' && minuteOf(time) !== minuteOf(last)
  }
}
