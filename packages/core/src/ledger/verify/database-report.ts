import { FirstErrors } from './report.ts'
import type { ChainErrorCode, ChainReport } from './report.ts'

/**
 * Errors of a database in addition to those of the chain: a value of an invalid type, a wrong index
 * copy, a wrong head, and history rows that are missing, wrong or unexpected.
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
  /** The affected entry: the last one under an inner node, or of a checkpoint. */
  readonly seq: number
  readonly code: DatabaseErrorCode
  readonly detail?: string
}

/** The report on a chain, with the errors that only its database can show. */
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
  'The columns config_version, decided and decided_month of the head: they invalidate the cached rules of servers and count decisions for the monthly limit, and are not part of the record.',
  'Tables other than the ledger: current rules, keys and totals are not part of the record.',
]

/** The findings of the database checks; merged with the report on the chain at the end. */
export class DatabaseFindings {
  readonly #errors = new FirstErrors<DatabaseError>()
  nodesChecked = 0
  nodesMismatched = 0
  checkpointsMismatched = 0

  add(seq: number, code: DatabaseErrorCode, detail?: string): void {
    this.#errors.add({ seq, code, ...(detail !== undefined && { detail }) })
  }

  /** Limits of this verification. */
  readonly notChecked: string[] = []

  /** Merges both reports: for two errors of one entry, that of the chain comes first. */
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
