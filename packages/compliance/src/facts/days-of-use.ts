import { voteIn, VOTING } from './approvals/votes.ts'
import { Cases } from './cases.ts'
import type { FactEntry } from './entry.ts'
import { DECIDED } from './lazy-entry.ts'

/**
 * The days of a period on which the organization used Remit: those with a decision or a vote. Changes
 * alone are preparation.
 */
export class DaysOfUse {
  static readonly kinds: readonly string[] = [DECIDED, ...VOTING]
  readonly #uses = new Cases()
  #first: number | null = null
  #last: number | null = null

  /** Adds an entry of one of the kinds in the period. */
  add(entry: FactEntry): void {
    const { kind, time, erased } = entry
    if (kind === DECIDED ? erased : voteIn(entry) === null) return
    this.#uses.add(time)
    this.#first ??= time
    this.#last = time
  }

  get count(): number {
    return this.#uses.days
  }

  /** Milliseconds from the first to the last use; 0 without use. */
  get spanMs(): number {
    return this.#first === null || this.#last === null ? 0 : Math.max(0, this.#last - this.#first)
  }
}
