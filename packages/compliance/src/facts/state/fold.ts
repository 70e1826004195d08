import type { FactEntry } from '../entry.ts'
import type { Recorded } from '../read.ts'
import type { State } from './state.ts'

/** What an entry of one kind changes in the state. */
export type Fold = (state: State, entry: FactEntry) => void

/** Folds by kind of entry. */
export type Folds = Readonly<Record<string, Fold>>

/** An object as the entry that made or last replaced it has it. */
export interface Kept {
  readonly id: string
  /** Where and when it was made; a replacement under the same id leaves both. */
  readonly seq: number
  readonly time: number
  /** Where and when it was last changed. */
  readonly changedSeq: number
  readonly changedTime: number
  /** The whole object as it was recorded. */
  readonly object: Recorded
}

/** The object of an entry, with the place of the one that it replaces. */
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
