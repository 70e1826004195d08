export {
  hashFromBase64,
  CheckpointError,
  openCheckpoint,
  readCheckpoint,
  sizeOfNote,
  NoteError,
  parseVerifierKey,
  createLedgerSigner,
  generateLedgerKey,
  loadLedgerKey,
} from '../ledger/format/note.ts'
export { parseCarried } from '../ledger/format/carried.ts'
export type { Checkpoint, LedgerSigner } from '../ledger/format/note.ts'
export { parsePayload } from '../ledger/format/entry.ts'
export type { StoredEntry } from '../ledger/format/entry.ts'
export { verifyConsistency } from '../ledger/format/proof.ts'
export { isSignedByAny, parseExternalCheckpoint } from '../ledger/verify/checkpoints.ts'
export type { ExternalCheckpoint } from '../ledger/verify/checkpoints.ts'
