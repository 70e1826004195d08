export { hashFromBase64 } from '../ledger/format/note.ts'
export { parseCarried } from '../ledger/format/carried.ts'
export {
  CheckpointError,
  openCheckpoint,
  readCheckpoint,
  sizeOfNote,
} from '../ledger/format/note.ts'
export type { Checkpoint } from '../ledger/format/note.ts'
export { parsePayload } from '../ledger/format/entry.ts'
export type { StoredEntry } from '../ledger/format/entry.ts'
export { NoteError, parseVerifierKey } from '../ledger/format/note.ts'
export { verifyConsistency } from '../ledger/format/proof.ts'
export { createLedgerSigner, generateLedgerKey, loadLedgerKey } from '../ledger/format/note.ts'
export type { LedgerSigner } from '../ledger/format/note.ts'
export { isSignedByAny, parseExternalCheckpoint } from '../ledger/verify/checkpoints.ts'
export type { ExternalCheckpoint } from '../ledger/verify/checkpoints.ts'
