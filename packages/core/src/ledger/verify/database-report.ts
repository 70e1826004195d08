import { FirstErrors } from './first-errors.ts'
import type { ChainErrorCode, ChainReport } from './report.ts'

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
export interface VerifyReport extends Omit<
  ChainReport,
  'first_invalid' | 'errors' | 'first_errors'
> {
  readonly first_invalid: { readonly seq: number; readonly code: DatabaseErrorCode } | null
  /** The first hundred, by sequence number. */
  readonly errors: readonly DatabaseError[]
  /** The first of each code. */
  readonly first_errors: readonly DatabaseError[]
  readonly nodes: { readonly checked: number; readonly mismatched: number }
}

const NOT_CHECKED = [
  'The config_version of the head: it tells servers when to read rules again, and is not part of the record.',
  'Tables beside the ledger: current rules, keys and totals are not its record.',
]

/** What the database's own checks found; joins the report on the chain at the end. */
export class DatabaseFindings {
  readonly #errors = new FirstErrors<DatabaseError>()
  nodesChecked = 0
  nodesMismatched = 0
  checkpointsMismatched = 0

  add(seq: number, code: DatabaseErrorCode, detail?: string): void {
    this.#errors.add({ seq, code, ...(detail !== undefined && { detail }) })
  }

  /** Sentences about what this verification left out. */
  readonly notChecked: string[] = []

  /** Both reports as one: where two errors show at one entry, the chain's comes first. */
  join(chain: ChainReport): VerifyReport {
    const { list, ofEachCode, count } = this.#errors
    const both = new FirstErrors<DatabaseError>()
    const known = new Set([...chain.errors, ...chain.first_errors, ...list, ...ofEachCode])
    for (const error of known) both.add(error)
    const { first } = both
    const { checked, mismatched } = chain.checkpoints
    return {
      ...chain,
      status: count > 0 ? 'tampered' : chain.status,
      first_invalid: first && { seq: first.seq, code: first.code },
      errors: both.list,
      first_errors: both.ofEachCode,
      error_count: chain.error_count + count,
      checkpoints: {
        checked: checked + this.checkpointsMismatched,
        mismatched: mismatched + this.checkpointsMismatched,
      },
      nodes: { checked: this.nodesChecked, mismatched: this.nodesMismatched },
      not_checked: [...chain.not_checked, ...this.notChecked, ...NOT_CHECKED],
    }
  }
}
