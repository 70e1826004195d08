import { FirstErrors } from './first-errors.ts'

/** Error codes of a chain. The table in docs/ledger-format.md explains each. */
export type ChainErrorCode =
  | 'malformed_line'
  | 'gap'
  | 'out_of_order'
  | 'wrong_org'
  | 'malformed_header'
  | 'broken_link'
  | 'time_decreased'
  | 'hash_mismatch'
  | 'commitment_mismatch'
  | 'payload_missing'
  | 'malformed_payload'
  | 'bad_genesis'
  | 'bad_rotation'
  | 'bad_cut'
  | 'unrecorded_cut'
  | 'malformed_checkpoint'
  | 'checkpoint_origin'
  | 'checkpoint_signature'
  | 'checkpoint_root'
  | 'checkpoint_witness'
  | 'untrusted_key'
  | 'unsigned_tail'
  | 'truncated'
  | 'head_mismatch'

export interface ChainError {
  /** The affected entry: for a missing one its position, for a checkpoint its last entry. */
  readonly seq: number
  readonly code: ChainErrorCode
  readonly detail?: string
}

/**
 * `tampered` overrides `behind_checkpoint` (signed entries are missing), which overrides
 * `incomplete` (the source ended early), which overrides `ok`.
 */
export type ChainStatus = 'ok' | 'tampered' | 'incomplete' | 'behind_checkpoint'

/** The source of trust: none, a trusted signature, or an external checkpoint. */
export type Anchor = 'none' | 'signature' | 'external'

export interface ChainReport {
  readonly status: ChainStatus
  /** `to_seq` is `from_seq` - 1 if there was no entry. */
  readonly checked: {
    readonly from_seq: number
    readonly to_seq: number
    readonly entries: number
  }
  /** The last verified entry; seq -1 and 64 zeros without one. */
  readonly head: { readonly seq: number; readonly hash: string }
  /** Merkle root over all entries up to the head; null if its start was unknown. */
  readonly root: string | null
  readonly anchored_by: Anchor
  /**
   * True if an external checkpoint covers the last entry, none is ahead of it and all agree. An older
   * one does not show that nothing is missing after it, nor does a signature alone: an older copy is
   * signed too. One that disagrees shows that entries of another branch are missing.
   */
  readonly truncation_checked: boolean
  /** Missing payloads that a later `ledger.erased` entry names. */
  readonly redacted: number
  /** Missing payloads that a later, unread entry may name. */
  readonly unexplained: number
  /**
   * The newest hundred entries `ledger.pruned`, with the first remaining sequence number of each.
   */
  readonly pruned: readonly { readonly seq: number; readonly cut: number }[]
  /** The newest hundred entries `ledger.recovered`, with the recorded loss of each. */
  readonly recovered: readonly Recovery[]
  /** The error with the lowest sequence number. */
  readonly first_invalid: { readonly seq: number; readonly code: ChainErrorCode } | null
  /** The first hundred, by sequence number. */
  readonly errors: readonly ChainError[]
  /** The first of each code. */
  readonly first_errors: readonly ChainError[]
  readonly error_count: number
  /** Number of ranges of missing sequence numbers. */
  readonly gaps: number
  readonly checkpoints: { readonly checked: number; readonly mismatched: number }
  /**
   * The last entry under the last matching checkpoint before a mismatch: a wrong root says nothing
   * about earlier entries.
   */
  readonly agreed_to: number
  /** Limits of this verification as sentences. Never empty. */
  readonly not_checked: readonly string[]
}

/** A restore from a backup, as recorded by entry `seq`. */
export interface Recovery {
  readonly seq: number
  readonly lost: { readonly from_seq: number; readonly to_seq: number }
}

/** Collects errors. */
export class Findings {
  readonly #errors = new FirstErrors<ChainError>()
  /** Number of errors that only mean that the end is missing. */
  #truncations = 0

  add(seq: number, code: ChainErrorCode, detail?: string): void {
    this.#errors.add(detail === undefined ? { seq, code } : { seq, code, detail })
    if (code === 'truncated') this.#truncations++
  }

  get count(): number {
    return this.#errors.count
  }

  get hasTruncation(): boolean {
    return this.#truncations > 0
  }

  /** `incomplete` is true if the source is known to have ended early. */
  status(incomplete: boolean): ChainStatus {
    if (this.count > this.#truncations) return 'tampered'
    if (this.#truncations > 0) return 'behind_checkpoint'
    return incomplete ? 'incomplete' : 'ok'
  }

  summary(): Pick<ChainReport, 'first_invalid' | 'errors' | 'first_errors' | 'error_count'> {
    const { first, list, ofEachCode, count } = this.#errors
    return {
      first_invalid: first === null ? null : { seq: first.seq, code: first.code },
      errors: list,
      first_errors: ofEachCode,
      error_count: count,
    }
  }
}
