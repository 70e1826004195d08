import { sizeOfNote } from '../format/checkpoint.ts'
import { isSignedByAny } from './external-checkpoint.ts'

/**
 * Returns those of some external checkpoints of one ledger that the witness must have signed, but did
 * not: all from the first one on that it signed. Null if it signed none of them.
 */
export function unwitnessed(notes: readonly string[], witness: string): ReadonlySet<string> | null {
  const signed = new Set(notes.filter((note) => isSignedByAny(note, [witness])))
  if (signed.size === 0) return null
  const since = Math.min(...Array.from(signed, (note) => sizeOfNote(note) ?? Infinity))
  return new Set(notes.filter((note) => !signed.has(note) && (sizeOfNote(note) ?? since) >= since))
}
