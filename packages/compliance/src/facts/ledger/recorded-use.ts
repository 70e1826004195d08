import { voteIn, VOTING } from '../approvals/votes.ts'
import { isAdministrative } from '../changes/administrative.ts'
import type { FactEntry } from '../entry.ts'
import { DECIDED } from '../lazy-entry.ts'
import type { FactState } from '../state/state.ts'

const VOTES: ReadonlySet<string> = new Set(VOTING)

/**
 * Returns whether an entry records use: a decision, a vote or a change. Entries of callers, and
 * those that the server writes by itself, such as heartbeats, do not.
 */
export function isUse(entry: FactEntry, state: FactState): boolean {
  const { kind, erased } = entry
  if (kind === DECIDED) return !erased
  return VOTES.has(kind) ? voteIn(entry) !== null : isAdministrative(entry, state)
}
