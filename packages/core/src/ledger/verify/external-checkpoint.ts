import { readCheckpoint } from '../format/checkpoint.ts'
import type { Checkpoint } from '../format/checkpoint.ts'
import { NoteError, parseVerifierKey, verifyNote } from '../format/note.ts'

/** Returns true if one of the verifier keys signed a note. Invalid keys are ignored. */
export function isSignedByAny(note: string, vkeys: Iterable<string>): boolean {
  for (const vkey of vkeys) {
    try {
      verifyNote(note, [parseVerifierKey(vkey)])
      return true
    } catch (error) {
      if (!(error instanceof NoteError)) throw error
    }
  }
  return false
}

export interface ExternalCheckpoint extends Checkpoint {
  /** The exact signed text. */
  readonly note: string
}

/**
 * Parses an external checkpoint; null for an invalid one. Line ends may have changed: shells drop
 * the last newline, tools add one, mail and editors write CRLF. Stored notes, in contrast, must
 * match byte by byte.
 */
export function parseExternalCheckpoint(text: string): ExternalCheckpoint | null {
  const note = `${text.replaceAll('\r\n', '\n').trimEnd()}\n`
  const checkpoint = readCheckpoint(note)
  return checkpoint && { ...checkpoint, note }
}
