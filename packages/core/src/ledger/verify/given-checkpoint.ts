import { readCheckpoint } from '../format/checkpoint.ts'
import type { Checkpoint } from '../format/checkpoint.ts'
import { NoteError, parseVerifierKey, verifyNote } from '../format/note.ts'

/** Whether one of some keys, as verifier keys, signed a note. What is no such key has signed nothing. */
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

export interface GivenCheckpoint extends Checkpoint {
  /** As it was signed. */
  readonly note: string
}

/**
 * Reads a checkpoint that somebody hands in; null for what is none. Its line ends may have changed on
 * the way: shells drop the last newline, tools add one, mail and editors write CRLF. What is stored has
 * come no such way, and must be a note to the byte.
 */
export function readGivenCheckpoint(text: string): GivenCheckpoint | null {
  const note = `${text.replaceAll('\r\n', '\n').trimEnd()}\n`
  const checkpoint = readCheckpoint(note)
  return checkpoint && { ...checkpoint, note }
}
