import type { Plan } from '@remit/contract'
import type { Evidence } from './evidence.ts'
import type { Metric, CheckOutcome } from './meter.ts'
import type { ExternalFacts } from './external-facts.ts'
import { thresholdsOf } from './thresholds.ts'
import type { CheckThresholds } from './thresholds.ts'

/** A short description of an entry: its time, agent and author. */
export interface EntryNote {
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string
  readonly agentId: string | null
  /** For example `key key_1 (ada@example.org)`; null if the payload does not contain it. */
  readonly by: string | null
}

/** All facts of a report about a period, as at its end. */
export interface PeriodFacts {
  readonly question: FactsQuery
  readonly organization: {
    readonly id: string
    /** Its id if no entry records a name. */
    readonly name: string
    /** Null if no entry records it. */
    readonly plan: Plan | null
    /** Milliseconds; null if no entry records it. */
    readonly createdAt: number | null
  }
  /** The entries of the period. */
  readonly ledger: {
    readonly entries: number
    readonly firstSeq: number | null
    readonly lastSeq: number | null
    readonly byKind: Readonly<Record<string, number>>
    /** The last entry before the end of the period, in or before the period. */
    readonly lastSeqBeforeEnd: number | null
  }
  /** Whole days, as the minimums of checks count them. */
  readonly days: {
    /** Days of the period (UTC) with a decision or a vote. */
    readonly use: number
    /** From the first to the last use in the period. */
    readonly first_to_last: number
    /** From the oldest kept decision to the end of the period; 0 without one. */
    readonly record: number
    /** From the creation of the organization to the end of the period; 0 if no entry records it. */
    readonly organization: number
  }
  /** M01 to M53 and all checks, in the order of their ids and of the catalogue. */
  readonly metrics: readonly Metric[]
  readonly checks: readonly CheckOutcome[]
  /** All twenty kinds. */
  readonly evidence: readonly Evidence[]
  /** The kept entries that checks and samples refer to. */
  readonly entries: ReadonlyMap<number, EntryNote>
  /** The verification of the chain, supplied from outside. */
  readonly outside: ExternalFacts
}

/** The subject of the facts: an organization in the half-open period [from, to), milliseconds. */
export interface FactsQuery {
  readonly orgId: string
  readonly from: number
  readonly to: number
  readonly thresholds: CheckThresholds
}

export const reportQueryOf = (
  period: Omit<FactsQuery, 'thresholds'>,
  thresholds: Partial<CheckThresholds> = {},
): FactsQuery => ({ ...period, thresholds: thresholdsOf(thresholds) })

export const SECOND = 1000
export const HOUR = 3600 * SECOND
export const DAY = 24 * HOUR

/** Counts cases in the order of their times, and the days (UTC) on which they occurred. */
export class Cases {
  #lastDay = -Infinity
  count = 0
  days = 0

  add(time: number, count = 1): void {
    this.count += count
    const day = Math.floor(time / DAY)
    // A clock that went back does not count a day twice.
    if (day <= this.#lastDay) return
    this.#lastDay = day
    this.days += 1
  }
}
