import { FirstErrors } from './first-errors.ts'

/** What can be wrong with a chain. The table in docs/ledger-format.md explains each. */
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
  | 'untrusted_key'
  | 'unsigned_tail'
  | 'truncated'
  | 'head_mismatch'

export interface ChainError {
  /** The entry where it shows: for a missing one its place, for a checkpoint its last entry. */
  readonly seq: number
  readonly code: ChainErrorCode
  readonly detail?: string
}

/**
 * `tampered` wins over `behind_checkpoint` (entries that were signed are not there), that over
 * `incomplete` (the source ended early), that over `ok`.
 */
export type ChainStatus = 'ok' | 'tampered' | 'incomplete' | 'behind_checkpoint'

/** What holds the chain: nothing but itself, a trusted signature, a checkpoint kept outside. */
export type Anchor = 'none' | 'signature' | 'external'

export interface ChainReport {
  readonly status: ChainStatus
  /** `to_seq` is `from_seq` - 1 when there was no entry. */
  readonly checked: {
    readonly from_seq: number
    readonly to_seq: number
    readonly entries: number
  }
  /** The last entry that was seen; seq -1 and 64 zeros before there is one. */
  readonly head: { readonly seq: number; readonly hash: string }
  /** Merkle root over all entries up to the head; null when its beginning was not known. */
  readonly root: string | null
  readonly anchored_by: Anchor
  /**
   * Whether a checkpoint from outside covers the last entry and none is ahead of it. An older one does
   * not show that nothing is missing after it, nor does a signature alone: an older copy is signed too.
   */
  readonly truncation_checked: boolean
  /** Payloads that are gone and named by a later `ledger.erased` entry. */
  readonly redacted: number
  /** Payloads that are gone and may be named by an entry that follows what was read. */
  readonly unexplained: number
  /** The newest hundred entries `ledger.pruned`, and the first sequence number that each one left. */
  readonly pruned: readonly { readonly seq: number; readonly cut: number }[]
  /** The newest hundred entries `ledger.recovered`, and what each says was lost of an earlier history. */
  readonly recovered: readonly Recovery[]
  /** The error of the lowest sequence number. */
  readonly first_invalid: { readonly seq: number; readonly code: ChainErrorCode } | null
  /** The first hundred, by sequence number. */
  readonly errors: readonly ChainError[]
  /** The first of each code. */
  readonly first_errors: readonly ChainError[]
  readonly error_count: number
  /** Runs of missing sequence numbers. */
  readonly gaps: number
  readonly checkpoints: { readonly checked: number; readonly mismatched: number }
  /** The last entry under the last checkpoint that agreed before one did not: a wrong root says nothing of what is before. */
  readonly agreed_to: number
  /** Plain sentences: what this verification says nothing about. Never empty. */
  readonly not_checked: readonly string[]
}

/** A restore from a backup, as entry `seq` records it. */
export interface Recovery {
  readonly seq: number
  readonly lost: { readonly from_seq: number; readonly to_seq: number }
}

/** Collects errors as they are found. */
export class Findings {
  readonly #errors = new FirstErrors<ChainError>()
  /** Errors that only say that the end is missing. */
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

  /** `incomplete` says whether the source is known to have ended early. */
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
