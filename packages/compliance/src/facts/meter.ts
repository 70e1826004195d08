import type { Figure } from '@remit/contract'
import type { FactEntry } from './entry.ts'
import type { ExternalFacts } from './external-facts.ts'
import type { FactsQuery } from './report-query.ts'
import type { SeqList } from './seqs.ts'
import type { FactState } from './state/state.ts'

/** `value`: whole numbers, decimal text, a `Ratio`; null over nothing. Never a fraction as a number. */
export interface Metric {
  readonly id: string
  readonly value: Figure
  /** The number of cases. */
  readonly population: number
}

/** A failed criterion, with the parameters of its text (`finding` in the catalogue). */
export interface CheckFailure {
  readonly params: Readonly<Record<string, string | number>>
  readonly count: number
  /** The 50 lowest. */
  readonly seqs: readonly number[]
  /** The entry that corrected it within the period; null if it was still open at the end. */
  readonly fixedBy?: number | null
}

/** The result of a check. With a population of 0 it is not applicable: neither passed nor failed. */
export interface CheckOutcome {
  readonly check: string
  readonly population: number
  /** The number of cases that `least` of the catalogue counts; by default the population. */
  readonly basis?: number
  /** The days on which these cases occurred, if `least` of the catalogue counts them. */
  readonly days?: number
  readonly ok: boolean
  readonly value: Figure
  /** The condition for a pass where it depends on thresholds; elsewhere that of the catalogue. */
  readonly threshold?: string
  /** The threshold is looser than that of the catalogue. */
  readonly relaxed: boolean
  /** Empty if the check passed or is not applicable. */
  readonly failures: readonly CheckFailure[]
}

export interface MeterResult {
  readonly metrics: readonly Metric[]
  readonly checks: readonly CheckOutcome[]
}

/** Computes metrics and checks over the entries of an organization, with bounded memory. */
export interface FactMeter {
  /** Entry kinds that it reads: exact ones, `approval.*`, or `*`. */
  readonly reads: readonly string[]
  /**
   * Milliseconds: entries from this time on are passed to `entry`, optionally by kind; by default
   * from the beginning of the period. This includes entries that were pruned and carried over,
   * unless the meter reads `*` and so is about the ledger itself.
   */
  readonly since?: number | ((kind: string) => number)
  /** Adds an entry before the end of the period, with the state before it. */
  entry(entry: FactEntry, state: FactState, inPeriod: boolean): void
  /**
   * Returns the result, given the state at the end of the period and the time of the oldest kept
   * decision, milliseconds; null without one. Called once.
   */
  end(state: FactState, outside: ExternalFacts, oldestDecision: number | null): MeterResult
}

/** The arguments of a meter. */
export interface MeterContext {
  readonly question: FactsQuery
  /** The list of entries that fail a check; paging through a check receives all of them. */
  readonly seqsOf: (check: string) => SeqList
}

export type CreateMeter = (measuring: MeterContext) => FactMeter
