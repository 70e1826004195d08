import {
  hashFromBase64,
  hexToBase64,
  parseDecimal,
  NoteError,
  splitNote,
  verifyNote,
} from './note.ts'
import type { NoteSigner, NoteVerifier } from './note.ts'
import { isHash } from './entry.ts'

/** A statement of a log: its first `size` entries have this Merkle root. */
export interface Checkpoint {
  /** The log, e.g. `remit.example.com/ledger/org_acme/led_01`. */
  readonly origin: string
  /** Number of entries, so the last one has `seq` = `size - 1`. */
  readonly size: number
  /** Merkle root in hex (the text form has it in base64). */
  readonly root: string
}

/** A text that is not a checkpoint, or not one of the expected log. */
export class CheckpointError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CheckpointError'
  }
}

/** Returns the note text of a checkpoint (C2SP tlog-checkpoint). Throws `CheckpointError`. */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  if (origin === '' || /[\u0000-\u001f]/.test(origin) || !origin.isWellFormed()) {
    throw new CheckpointError('The origin of a checkpoint must be one line of text')
  }
  if (!Number.isSafeInteger(size) || size < 0 || !isHash(root)) {
    throw new CheckpointError('A checkpoint must have a tree size and a root hash')
  }
  return `${origin}\n${size}\n${hexToBase64(root)}\n`
}

/**
 * Parses the note text of a checkpoint (C2SP tlog-checkpoint). Sizes above 2^53 - 1 are legal there
 * and rejected here, because no ledger can have them. Extension lines are returned without
 * interpretation. Throws `CheckpointError`.
 */
export function parseCheckpoint(body: string): Checkpoint & { readonly extensions: string[] } {
  const lines = body.split('\n')
  const [origin = '', sizeText = '', rootText = ''] = lines
  const extensions = lines.slice(3, -1)
  if (lines.length < 4 || lines.at(-1) !== '' || origin === '' || extensions.includes('')) {
    throw new CheckpointError('A checkpoint must have an origin, a size and a root, one per line')
  }
  const size = parseDecimal(sizeText)
  if (size === null) {
    throw new CheckpointError('The size of a checkpoint must be a whole number up to 2^53 - 1')
  }
  const root = hashFromBase64(rootText)
  if (root === null)
    throw new CheckpointError('The root of a checkpoint must be 32 bytes in base64')
  return { origin, size, root, extensions }
}

/**
 * Parses a note as a checkpoint, without checking its signatures. Null unless the text is exactly a
 * signed note with a checkpoint.
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

/** Returns the number of entries of a checkpoint note; null for any other text. */
export const sizeOfNote = (note: unknown): number | null => readCheckpoint(note)?.size ?? null

/** Signs a checkpoint as a note. Throws `CheckpointError`. */
export function signCheckpoint(signer: NoteSigner, checkpoint: Checkpoint): string {
  return signer.sign(formatCheckpoint(checkpoint))
}

/**
 * Opens a signed checkpoint of a pinned key, and of a pinned origin if one is given. Throws
 * `NoteError` (signature) or `CheckpointError` (text); the returned checkpoint was signed by that
 * key.
 */
export function openCheckpoint(note: string, verifier: NoteVerifier, origin?: string): Checkpoint {
  const checkpoint = parseCheckpoint(verifyNote(note, [verifier]).body)
  if (origin !== undefined && checkpoint.origin !== origin) {
    throw new CheckpointError(
      `The checkpoint has the origin ${checkpoint.origin} instead of ${origin}`,
    )
  }
  return { origin: checkpoint.origin, size: checkpoint.size, root: checkpoint.root }
}
