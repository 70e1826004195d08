import type { FactEntry } from '../entry.ts'
import type { Recorded } from '../read.ts'
import type { State } from './state.ts'

/** The state change of one entry kind. */
export type Fold = (state: State, entry: FactEntry) => void

/** Folds by kind of entry. */
export type Folds = Readonly<Record<string, Fold>>

/** An object as last recorded. */
export interface Kept {
  readonly id: string
  /** The place of its creation; a replacement under the same id keeps it. */
  readonly seq: number
  readonly time: number
  /** The place of its last change. */
  readonly changedSeq: number
  readonly changedTime: number
  /** The whole recorded object. */
  readonly object: Recorded
}

/** Reads the object of an entry and keeps the creation place of the object it replaces. */
export const kept = (
  id: string,
  object: Recorded,
  { seq, time }: FactEntry,
  before: Kept | undefined,
): Kept => ({
  id,
  seq: before?.seq ?? seq,
  time: before?.time ?? time,
  changedSeq: seq,
  changedTime: time,
  object,
})
