import type { StoredEntry } from '../format/entry.ts'
import type { Scope } from './work.ts'

/**
 * What a module does when payloads of entries are erased: it clears its own copies of what they say,
 * in the same transaction. One that throws a failure refuses the erasure.
 */
export interface Eraser {
  /** The entries as they still are. */
  erase(entries: readonly StoredEntry[], scope: Scope): Promise<void>
}
