import type { StoredEntry } from '../format/entry.ts'
import type { LedgerScope } from './work.ts'

/**
 * Erases a module's copies of payloads, in the transaction that erases them from entries. A failure
 * that it throws cancels the erasure.
 */
export interface Eraser {
  /** The entries before their erasure. */
  erase(entries: readonly StoredEntry[], scope: LedgerScope): Promise<void>
}
