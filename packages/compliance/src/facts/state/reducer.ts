import type { EntryKind, EntryReading } from '@remit/contract/entries'
import type { FactEntry } from '../entry.ts'
import type { FactState } from './state.ts'

/** The state change of entries of some kinds. */
export type Reducer<Kind extends EntryKind> = (
  state: FactState,
  entry: FactEntry,
  data: EntryReading<Kind>,
) => void

/** Folds by kind of entry. */
export type Reducers = { readonly [Kind in EntryKind]?: Reducer<Kind> }

/** An object as last recorded. */
export interface RecordedObject {
  readonly id: string
  /** The place of its creation; a replacement under the same id keeps it. */
  readonly seq: number
  readonly time: number
  /** The place of its last change. */
  readonly changedSeq: number
  readonly changedTime: number
  /** As recorded. */
  readonly object: object
}

/** The places of the object of an entry; it keeps the creation place of the object it replaces. */
export const recordedObject = (
  id: string,
  object: object,
  { seq, time }: FactEntry,
  before: RecordedObject | undefined,
): RecordedObject => ({
  id,
  seq: before?.seq ?? seq,
  time: before?.time ?? time,
  changedSeq: seq,
  changedTime: time,
  object,
})
