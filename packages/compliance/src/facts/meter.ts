import type { Figure, Plan } from '@remit/contract'
import { percentOf } from '@remit/contract/report-texts'
import type { FactEntry } from './entry.ts'
import type { ExternalFacts } from './external-facts.ts'
import type { FactsQuery } from './facts.ts'
import type { CheckEntries } from './outcome.ts'
import type { FactState } from './state/state.ts'

/** `value`: whole numbers, decimal text, a `Ratio`; null over nothing. Never a fraction as a number. */
export interface Metric {
  readonly id: string
  readonly value: Figure
  /** The number of cases. */
  readonly population: number
}

export const metric = (id: string, value: Figure, population: number): Metric => ({
  id,
  value,
  population,
})

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
  /** Called once, with the state before the first entry of the period, or at its end without one. */
  begin?(state: FactState): void
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
  /** The entries that fail a check; paging through a check receives all of them. */
  readonly seqsOf: (check: string) => CheckEntries
}

export type CreateMeter = (measuring: MeterContext) => FactMeter

// Evidence kinds of the enterprise plan: policies, permissions, approvals and identity.
const ENTERPRISE_KINDS: ReadonlySet<string> = new Set([
  'agent_interventions',
  'agent_permissions',
  'agent_registry',
  'approval_decisions',
  'approval_rules',
  'credential_lifecycle',
  'policy_rules',
  'trust_policies',
  'trusted_issuers',
])

/** Returns whether an organization on the plan can have evidence of a kind. */
export const isKindInPlan = (kind: string, plan: Plan): boolean =>
  plan === 'enterprise' || (plan === 'team' && !ENTERPRISE_KINDS.has(kind))

/** A printable share: integers, and the quotient with four decimals. */
type Ratio = {
  readonly numerator: number
  readonly denominator: number
  readonly text: string
}

/** Null for a denominator of 0: neither 0 nor 1 would be true. */
export const ratioOf = (numerator: number, denominator: number): Ratio | null =>
  denominator === 0 ? null : { numerator, denominator, text: decimal(numerator, denominator, 4) }

/**
 * The quotient of integers with the given number of decimals, rounded half away from zero, without
 * floating point.
 */
export function decimal(numerator: number, denominator: number, places: number): string {
  return decimalOf(BigInt(numerator), BigInt(denominator), places)
}

/** The growth of a share, with four decimals; null if one has a denominator of 0. */
export function difference(now: Ratio | null, before: Ratio | null): string | null {
  if (!now || !before) return null
  const [a, b] = [BigInt(now.numerator), BigInt(now.denominator)]
  const [c, d] = [BigInt(before.numerator), BigInt(before.denominator)]
  return decimalOf(a * d - c * b, b * d, 4)
}

function decimalOf(numerator: bigint, denominator: bigint, places: number): string {
  const scaled = (numerator < 0n ? -numerator : numerator) * 10n ** BigInt(places)
  const rounded = (2n * scaled + denominator) / (2n * denominator)
  const digits = rounded.toString().padStart(places + 1, '0')
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
  return numerator < 0n && rounded !== 0n ? `-${text}` : text
}

/** Returns whether a share is at most `percent`; true for 0 of 0. */
export const isAtMostPercent = (part: number, whole: number, percent: number): boolean =>
  BigInt(part) * 100n <= BigInt(percent) * BigInt(whole)

/** A share with at most one decimal: `20%`, `33.3%`; `none` for a denominator of 0. */
export const percentText = (ratio: Ratio | null): string =>
  ratio === null ? 'none' : percentOf(ratio.numerator, ratio.denominator)

/** Returns whether `reads` covers a kind: `*` covers all, `approval.*` a prefix. */
export const coversKind = (reads: string, kind: string): boolean =>
  reads === '*' || reads === kind || (reads.endsWith('.*') && kind.startsWith(reads.slice(0, -1)))
