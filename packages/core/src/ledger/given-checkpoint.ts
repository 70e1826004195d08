import { readCheckpoint } from './checkpoint.ts'
import type { Checkpoint } from './checkpoint.ts'

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
