import type { StoredEntry } from '../format/entry.ts'
import type { OnTileNode } from '../format/merkle.ts'
import type { NoteVerifier } from '../format/note.ts'

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

export interface ChainVerifierOptions {
  readonly org_id: string
  /** Trusted keys, from outside the ledger. Without them, the result has no trust anchor. */
  readonly verifiers?: readonly NoteVerifier[]
  readonly start?: ChainStart
  /** The origin that genesis and checkpoints must name. Default: that of genesis. */
  readonly origin?: string
  /** The ledger id that genesis must name. */
  readonly ledger_id?: string
  /**
   * Also parse every payload and compare it with its canonical form: takes about three times as
   * long.
   */
  readonly deep?: boolean
  /** Receives the tile nodes of the entries, for comparison with stored tiles. */
  readonly onTileNode?: OnTileNode
}

/**
 * The start of a verification instead of genesis: a state that was verified before, or one that a
 * signed checkpoint will confirm. Without `frontier`, roots cannot be compared.
 */
export interface ChainStart {
  /** Number of entries before the first given one. */
  readonly size: number
  /** Hash of the previous entry; by default, that of the first entry is assumed to be correct. */
  readonly hash?: string
  readonly recorded_at?: string
  /** In the format of `encodeFrontier`. */
  readonly frontier?: string
  /** The key that signs this size and larger ones. */
  readonly vkey?: string
  /** Earlier entries were pruned: an entry `ledger.pruned` must name exactly this state. */
  readonly pruned?: boolean
}

/** Facts about the end of the chain, after all entries. */
export interface ChainEnd {
  /** The stored head, with the newest signed checkpoint. */
  readonly head?: {
    readonly size: number
    readonly hash: string
    readonly frontier: string
    readonly checkpoint: string | null
  }
  /** The key that is claimed to be in force at the end. */
  readonly vkey?: string
  /** The verification ended early on purpose: nothing is reported about later entries. */
  readonly stopped?: boolean
  /** A `partial` export: later entries may explain missing payloads. */
  readonly continues?: boolean
  /** The source stopped before its end. */
  readonly incomplete?: boolean
}

export interface ChainVerifier {
  /** Checks the next entry, in the order of `seq`. Never throws for an invalid one. */
  entry(row: StoredEntry): void
  /**
   * Adds a checkpoint to compare, before the chain outgrows its size. `external`: it was stored
   * outside of the ledger's database; `unwitnessed`: the witness did not sign it, but must have.
   */
  checkpoint(
    note: string,
    options?: { readonly external?: boolean; readonly unwitnessed?: boolean },
  ): void
  /** Reports that the next entry cannot be parsed. */
  malformed(detail: string): void
  /** Returns the result over all given entries. Call once. */
  finish(end?: ChainEnd): ChainReport
}

const KEPT_ERRORS = 100

interface Placed {
  readonly seq: number
  readonly code: string
}

/**
 * Collects errors by sequence number in any order: the first hundred and the first of each code, so
 * that many errors cannot hide one of another kind. Counts them all.
 */
export class FirstErrors<E extends Placed> {
  /** In order. */
  readonly #kept: E[] = []
  readonly #ofCode = new Map<E['code'], E>()
  #count = 0

  add(error: E): void {
    this.#count++
    const known = this.#ofCode.get(error.code)
    if (!known || error.seq < known.seq) this.#ofCode.set(error.code, error)
    this.#keep(error)
  }

  get count(): number {
    return this.#count
  }

  /** The first hundred. */
  get list(): readonly E[] {
    return this.#kept
  }

  /** The first of each code. */
  get ofEachCode(): readonly E[] {
    return [...this.#ofCode.values()]
  }

  /** The first error; of several at one entry, the one that was found first. */
  get first(): E | null {
    return this.#kept[0] ?? null
  }

  #keep(error: E): void {
    const kept = this.#kept
    const last = kept.at(-1)
    if (kept.length === KEPT_ERRORS && last && error.seq >= last.seq) return
    // Nearly all errors arrive in order.
    const at = kept.findLastIndex(({ seq }) => seq <= error.seq) + 1
    kept.splice(at, 0, error)
    if (kept.length > KEPT_ERRORS) kept.pop()
  }
}
