import { hashFromBase64, hexToBase64, parseDecimal } from './base64.ts'
import { isHash } from './entry.ts'
import { NoteError, splitNote, verifyNote } from './note.ts'
import type { NoteSigner, NoteVerifier } from './note.ts'

/** The claim of a log: its first `size` entries have this Merkle root. */
export interface Checkpoint {
  /** Which log, e.g. `remit.example.com/ledger/org_acme/led_01`. */
  readonly origin: string
  /** Number of entries, so the last one has `seq` = `size - 1`. */
  readonly size: number
  /** Merkle root in hex (the text form has it in base64). */
  readonly root: string
}

/** A text that is not a checkpoint, or not of the log that was expected. */
export class CheckpointError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CheckpointError'
  }
}

/** The note text of a checkpoint (C2SP tlog-checkpoint). Throws `CheckpointError`. */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  if (origin === '' || /[\u0000-\u001f]/.test(origin) || !origin.isWellFormed()) {
    throw new CheckpointError('The origin of a checkpoint is one line of text')
  }
  if (!Number.isSafeInteger(size) || size < 0 || !isHash(root)) {
    throw new CheckpointError('A checkpoint needs a tree size and a root hash')
  }
  return `${origin}\n${size}\n${hexToBase64(root)}\n`
}

/**
 * Reads a checkpoint's note text (C2SP tlog-checkpoint). Sizes above 2^53 - 1 are legal there and
 * refused here: no ledger of ours can have them. Extension lines are returned and mean nothing.
 * Throws `CheckpointError`.
 */
export function parseCheckpoint(body: string): Checkpoint & { readonly extensions: string[] } {
  const lines = body.split('\n')
  const [origin = '', sizeText = '', rootText = ''] = lines
  const extensions = lines.slice(3, -1)
  if (lines.length < 4 || lines.at(-1) !== '' || origin === '' || extensions.includes('')) {
    throw new CheckpointError('A checkpoint has an origin, a size and a root, one per line')
  }
  const size = parseDecimal(sizeText)
  if (size === null) {
    throw new CheckpointError('The size of a checkpoint is a whole number up to 2^53 - 1')
  }
  const root = hashFromBase64(rootText)
  if (root === null) throw new CheckpointError('The root of a checkpoint is 32 bytes in base64')
  return { origin, size, root, extensions }
}

/**
 * What a whole note says as a checkpoint, before anyone asks who signed it. Null for what is no signed
 * note to the byte, or one of something else.
 */
export function readCheckpoint(note: unknown): Checkpoint | null {
  if (typeof note !== 'string') return null
  try {
    const { origin, size, root } = parseCheckpoint(splitNote(note).body)
    return { origin, size, root }
  } catch (error) {
    if (error instanceof NoteError || error instanceof CheckpointError) return null
    throw error
  }
}

/** How many entries a note is about; null for what is no checkpoint. */
export const sizeOfNote = (note: unknown): number | null => readCheckpoint(note)?.size ?? null

/** A signed checkpoint as one note. Throws `CheckpointError`. */
export function signCheckpoint(signer: NoteSigner, checkpoint: Checkpoint): string {
  return signer.sign(formatCheckpoint(checkpoint))
}

/**
 * Opens a signed checkpoint of a pinned key, and of a pinned origin if one is given. Throws
 * `NoteError` (signature) or `CheckpointError` (text); what it returns was signed by that key.
 */
export function openCheckpoint(note: string, verifier: NoteVerifier, origin?: string): Checkpoint {
  const checkpoint = parseCheckpoint(verifyNote(note, [verifier]).body)
  if (origin !== undefined && checkpoint.origin !== origin) {
    throw new CheckpointError(`The checkpoint is of ${checkpoint.origin}, not of ${origin}`)
  }
  return { origin: checkpoint.origin, size: checkpoint.size, root: checkpoint.root }
}
