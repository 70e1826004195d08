import { fail } from '../../base/errors.ts'
import type { Failure } from '../../base/errors.ts'

/** The error for a part of a ledger that begins at `cut`. */
export const pruned = (cut: number, what: string): Failure =>
  fail('ledger_pruned', `${what} was pruned; the ledger starts at ${cut}`)

/** The error for an entry that does not exist or is not visible to the caller. */
export const noEntry = (seq: number): Failure =>
  fail('ledger_entry_not_found', `The ledger has no entry ${seq}`)
