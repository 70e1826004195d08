import type { ChainErrorCode, ChainReport } from './verify-report.ts'

/**
 * What can be wrong in a database beside what can be wrong with the chain itself: a value of a type
 * that is never written, an index copy, the head row, and rows of history that are missing, wrong or
 * should not be there.
 */
export type DatabaseErrorCode =
  | ChainErrorCode
  | 'malformed_row'
  | 'copy_mismatch'
  | 'head_missing'
  | 'beyond_head'
  | 'checkpoint_missing'
  | 'node_missing'
  | 'node_mismatch'
  | 'node_unexpected'

export interface DatabaseError {
  /** The entry where it shows: the last one under an inner node, or of a checkpoint. */
  readonly seq: number
  readonly code: DatabaseErrorCode
  readonly detail?: string
}

/** The report on a chain, with what only its database can show. */
export interface VerifyReport extends Omit<ChainReport, 'first_invalid' | 'errors'> {
  readonly first_invalid: { readonly seq: number; readonly code: DatabaseErrorCode } | null
  /** The first hundred, by sequence number. */
  readonly errors: readonly DatabaseError[]
  readonly nodes: { readonly checked: number; readonly mismatched: number }
}

const KEPT_ERRORS = 100

const NOT_CHECKED = [
  'The config_version of the head: it tells servers when to read rules again, and is not part of the record.',
  'Tables beside the ledger: current rules, keys and totals are not its record.',
]

/** What the database's own checks found; joins the report on the chain at the end. */
export class DatabaseFindings {
  readonly #kept: DatabaseError[] = []
  #first: DatabaseError | null = null
  #count = 0
  nodesChecked = 0
  nodesMismatched = 0
  checkpointsMismatched = 0

  add(seq: number, code: DatabaseErrorCode, detail?: string): void {
    const error = { seq, code, ...(detail !== undefined && { detail }) }
    this.#count++
    if (this.#kept.length < KEPT_ERRORS) this.#kept.push(error)
    if (this.#first === null || seq < this.#first.seq) this.#first = error
  }

  /** Sentences about what this verification left out. */
  readonly notChecked: string[] = []

  /** Both reports as one: where two errors show at one entry, the chain's comes first. */
  join(chain: ChainReport): VerifyReport {
    const mine = this.#first
    const isMine =
      mine !== null && (chain.first_invalid === null || mine.seq < chain.first_invalid.seq)
    const { checked, mismatched } = chain.checkpoints
    return {
      ...chain,
      status: this.#count > 0 ? 'tampered' : chain.status,
      first_invalid: isMine ? { seq: mine.seq, code: mine.code } : chain.first_invalid,
      errors: [...chain.errors, ...this.#kept]
        .toSorted((one, other) => one.seq - other.seq)
        .slice(0, KEPT_ERRORS),
      error_count: chain.error_count + this.#count,
      checkpoints: {
        checked: checked + this.checkpointsMismatched,
        mismatched: mismatched + this.checkpointsMismatched,
      },
      nodes: { checked: this.nodesChecked, mismatched: this.nodesMismatched },
      not_checked: [...chain.not_checked, ...this.notChecked, ...NOT_CHECKED],
    }
  }
}
