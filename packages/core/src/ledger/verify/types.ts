import type { StoredEntry } from '../format/entry.ts'
import type { OnTileNode } from '../format/merkle.ts'
import type { NoteVerifier } from '../format/note.ts'
import type { ChainReport } from './report.ts'

export interface ChainVerifierOptions {
  readonly org_id: string
  /** Keys the caller trusts, fetched from outside the ledger. Without them nothing is anchored. */
  readonly verifiers?: readonly NoteVerifier[]
  readonly start?: ChainStart
  /** The origin that genesis and checkpoints must name. Genesis decides where it is left out. */
  readonly origin?: string
  /** The ledger id that genesis must name. */
  readonly ledger_id?: string
  /** Also parse every payload and compare it with its canonical form: about three times the time. */
  readonly deep?: boolean
  /** Told about the tile nodes that the entries give, to compare stored tiles with. */
  readonly onTileNode?: OnTileNode
}

/**
 * Where to begin instead of genesis: a state that was verified before, or one that a signed
 * checkpoint on the way will confirm. Without `frontier`, no root can be compared.
 */
export interface ChainStart {
  /** Number of entries before the first one that will be given. */
  readonly size: number
  /** Hash of the entry before; where it is left out, the first entry's own word is taken. */
  readonly hash?: string
  readonly recorded_at?: string
  /** As `encodeFrontier` writes it. */
  readonly frontier?: string
  /** The key that signs this size and larger ones. */
  readonly vkey?: string
  /** What is before was pruned: an entry `ledger.pruned` must name this very state. */
  readonly pruned?: boolean
}

/** What is known about the end of the chain when the entries have been given. */
export interface ChainEnd {
  /** What is stored beside the entries, with the newest signed checkpoint. */
  readonly head?: {
    readonly size: number
    readonly hash: string
    readonly frontier: string
    readonly checkpoint: string | null
  }
  /** The key that is said to be in force at the end. */
  readonly vkey?: string
  /** The walk stopped before the end on purpose: nothing is said about later entries. */
  readonly stopped?: boolean
  /** A `partial` export: entries follow elsewhere, and may explain why payloads are missing. */
  readonly continues?: boolean
  /** The source stopped before its end. */
  readonly incomplete?: boolean
}

export interface ChainVerifier {
  /** The next entry, in the order of `seq`. Never throws on a bad one. */
  entry(row: StoredEntry): void
  /** A checkpoint to compare, to be given before the chain outgrows its size. `external`: it was
   *  kept outside of the ledger's database. */
  checkpoint(note: string, options?: { readonly external?: boolean }): void
  /** What should have been the next entry cannot be read at all. */
  malformed(detail: string): void
  /** The verdict over everything that was given. Call once. */
  finish(end?: ChainEnd): ChainReport
}
