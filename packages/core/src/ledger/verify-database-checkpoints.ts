import type { LedgerCheckpointRow, LedgerEntryRow } from '../db/schema.ts'
import { CheckpointError, parseCheckpoint } from './checkpoint.ts'
import { entryHash, headerOf } from './entry.ts'
import { CHECKPOINT_EVERY, minuteOf } from './store.ts'
import type { DatabaseFindings } from './verify-database-report.ts'

/** The size that a note's text names, whoever signed it; null if it names none. */
export function sizeOfNote(note: unknown): number | null {
  if (typeof note !== 'string') return null
  try {
    return parseCheckpoint(note.slice(0, note.lastIndexOf('\n\n') + 1)).size
  } catch (error) {
    if (error instanceof CheckpointError) return null
    throw error
  }
}

/** Whether a row of the history can be handed on: its note must be of the size in its key. */
export function isOfItsSize(row: LedgerCheckpointRow, findings: DatabaseFindings): boolean {
  if (sizeOfNote(row.note) === row.size) return true
  findings.checkpointsMismatched++
  const seq = Number.isSafeInteger(row.size) ? Math.max(0, row.size - 1) : 0
  findings.add(seq, 'malformed_checkpoint', `the row of size ${row.size}`)
  return false
}

const ROTATION = 'ledger.key_rotated'

/**
 * Watches that the history of checkpoints has the rows that the writer leaves: at the end of the
 * commit that crosses a multiple of `CHECKPOINT_EVERY`, of the first commit of a minute and of a
 * rotation. Where a commit ends the chain does not say, but all its entries carry one time.
 */
export class DueCheckpoints {
  /** Since when one is due, and the time of the commit that has to leave it. */
  #due: { readonly seq: number; readonly time: string } | null = null
  #lastSeq: number
  #lastTime: string
  readonly #findings: DatabaseFindings

  /** `lastSeq` and `lastTime` are those of the entry before, -1 and nothing where there is none. */
  constructor(findings: DatabaseFindings, lastSeq: number, lastTime: string) {
    this.#findings = findings
    this.#lastSeq = lastSeq
    this.#lastTime = lastTime
  }

  /** `kept`: whether a checkpoint is stored that ends with this entry. */
  entry(row: LedgerEntryRow, kept: boolean): void {
    const { seq, recorded_at: time } = row
    const follows = seq === this.#lastSeq + 1
    if (!follows) this.#due = null
    if (this.#due !== null && this.#due.time !== time) {
      // A time that is not the hashed one is wrong itself, and says nothing about commits.
      if (entryHash(headerOf(row)) !== row.hash) return
      this.end()
    }
    if ((seq + 1) % CHECKPOINT_EVERY === 0 || (follows && this.#beginsMinute(time))) {
      this.#due ??= { seq, time }
    }
    // By this one the old key vouches for the new.
    if (row.kind === ROTATION && !kept) this.#findings.add(seq, 'checkpoint_missing', ROTATION)
    if (kept) this.#due = null
    this.#lastSeq = seq
    this.#lastTime = time
  }

  /** The last commit has ended. */
  end(): void {
    if (this.#due !== null) this.#findings.add(this.#due.seq, 'checkpoint_missing')
    this.#due = null
  }

  #beginsMinute(time: string): boolean {
    const last = this.#lastTime
    return time !== last && last !== '' && minuteOf(time) !== minuteOf(last)
  }
}
