/** Keys and checkpoints from outside the database, for verifying a ledger. */
export interface VerificationTrust {
  /** The server's own verifier key. */
  readonly vkeys: readonly string[]
  /** Notes from the checkpoint folder. */
  readonly anchors: readonly string[]
  /** Those of `anchors` that the witness must have signed, but did not. */
  readonly unwitnessed?: readonly string[]
  /** Sentences about unreadable parts of that folder. */
  readonly unread: readonly string[]
  /** The configured folder contains nothing for this ledger. */
  readonly none?: boolean
}
