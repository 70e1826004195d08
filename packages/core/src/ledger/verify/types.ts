import type { StoredEntry } from '../format/entry.ts'
import type { OnTileNode } from '../format/merkle.ts'
import type { NoteVerifier } from '../format/note.ts'
import type { ChainReport } from './report.ts'

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
