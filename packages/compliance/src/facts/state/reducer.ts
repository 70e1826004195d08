import type { FactEntry } from '../entry.ts'
import type { RecordedJson } from '../recorded-json.ts'
import type { FactState } from './state.ts'

/** The state change of one entry kind. */
export type Reducer = (state: FactState, entry: FactEntry) => void

/** Folds by kind of entry. */
export type Reducers = Readonly<Record<string, Reducer>>

/** An object as last recorded. */
export interface RecordedObject {
  readonly id: string
  /** The place of its creation; a replacement under the same id keeps it. */
  readonly seq: number
  readonly time: number
  /** The place of its last change. */
  readonly changedSeq: number
  readonly changedTime: number
  /** The whole recorded object. */
  readonly object: RecordedJson
}

/** Reads the object of an entry and keeps the creation place of the object it replaces. */
export const recordedObject = (
  id: string,
  object: RecordedJson,
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
