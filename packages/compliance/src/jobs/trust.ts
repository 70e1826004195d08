/** Keys and checkpoints from outside of the database, against which a ledger is verified. */
export interface Trust {
  /** The server's own verifier key. */
  readonly vkeys: readonly string[]
  /** Notes of the folder of checkpoints. */
  readonly anchors: readonly string[]
  /** Sentences about what of that folder could not be read. */
  readonly unread: readonly string[]
  /** There should be a folder, and it holds nothing of the ledger. */
  readonly none?: boolean
}
