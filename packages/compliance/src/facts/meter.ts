import type { Figure } from '@remit/contract'
import type { FactEntry } from './entry.ts'
import type { Outside } from './outside.ts'
import type { Question } from './question.ts'
import type { SeqList } from './seqs.ts'
import type { State } from './state/state.ts'

/** `value`: whole numbers, decimal text, a `Ratio`; null over nothing. Never a fraction as a number. */
export interface Metric {
  readonly id: string
  readonly value: Figure
  /** What was looked at. */
  readonly population: number
}

/** Something that does not hold, with what its text needs (`finding` of the catalogue). */
export interface Failure {
  readonly params: Readonly<Record<string, string | number>>
  readonly count: number
  /** The lowest fifty. */
  readonly seqs: readonly number[]
  /** The entry that put it right within the period; null where it was still so at the end. */
  readonly fixedBy?: number | null
}

/** What a check came to. With a population of 0 it does not apply: neither passed nor failed. */
export interface Outcome {
  readonly check: string
  readonly population: number
  /** How many there are of what `least` of the catalogue counts; the population unless given. */
  readonly basis?: number
  readonly ok: boolean
  readonly value: Figure
  /** What it takes to pass. */
  readonly threshold: string
  /** The threshold is looser than that of the catalogue. */
  readonly relaxed: boolean
  /** Empty where the check passed or does not apply. */
  readonly failures: readonly Failure[]
}

export interface Measured {
  readonly metrics: readonly Metric[]
  readonly checks: readonly Outcome[]
}

/** Counts something over the entries of an organization, with bounded memory. */
export interface Meter {
  /** Kinds of entries that it is given: exact ones, `approval.*`, or `*`. */
  readonly reads: readonly string[]
  /**
   * Entries from this time on are given to it, milliseconds, where that may depend on the kind; from the
   * beginning of the period unless set. Before that, so are those that were pruned and carried over,
   * unless it reads `*`: then it is about what the ledger has.
   */
  readonly since?: number | ((kind: string) => number)
  /** An entry before the end of the period, with the state that was before it. */
  entry(entry: FactEntry, state: State, inPeriod: boolean): void
  /** The result, with the state at the end of the period. Called once. */
  end(state: State, outside: Outside): Measured
}

/** What a meter is made with. */
export interface Measuring {
  readonly question: Question
  /** A list for entries that speak against a check; whoever pages through the check is given all. */
  readonly seqsOf: (check: string) => SeqList
}

export type CreateMeter = (measuring: Measuring) => Meter
