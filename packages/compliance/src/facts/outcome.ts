import type { Cases } from './facts.ts'
import type { CheckFailure, CheckOutcome } from './meter.ts'
import type { SeqList } from './seqs.ts'

interface GivenOutcome extends Omit<CheckOutcome, 'ok' | 'relaxed' | 'days'> {
  readonly relaxed?: boolean
  /** The cases that `least` of the catalogue counts, with their days. */
  readonly cases?: Cases
}

/** Builds an outcome; it passes if it has no failures. */
export const outcome = ({ cases, ...given }: GivenOutcome): CheckOutcome => {
  const failures = given.population > 0 ? given.failures : []
  const counted = cases && { basis: cases.count, days: cases.days }
  return { relaxed: false, ...given, ...counted, failures, ok: failures.length === 0 }
}

/** Combines the failures of a check into one; none if the list is empty. */
export const failing = (
  { count, seqs }: Pick<SeqList, 'count' | 'seqs'>,
  params: CheckFailure['params'] = { n: count },
  fixedBy: number | null = null,
): CheckFailure[] => (count === 0 ? [] : [{ params, count, seqs, fixedBy }])

/** The data of an `authorization.decided` entry, without the context of the request. */
export interface DecisionFacts {
  /** Identifies the rules of the decision; null if the entry has none. */
  readonly configVersion: number | null
  readonly plan: string | null
  /** The number of rules and grants that matched; null if the entry has no list of them. */
  readonly matches: number | null
  /** True if a policy, a permission or an approval rule matched. */
  readonly isGoverned: boolean
  /** The matches; empty without a list. */
  readonly matched: readonly Matched[]
  readonly approval: { readonly id: string; readonly status: string } | null
  readonly spend: RecordedSpend | null
  /** The request contained an amount that is not valid in USD, and no limit refused it. */
  readonly hasInvalidAmount: boolean
  /** The amount held by the allow, in micro-USD; 0 if none. */
  readonly heldMicro: number
}

export interface Matched {
  readonly kind: string
  readonly id: string
}

/** Kinds of matches that govern. A spend limit or a setting does not grant anything. */
export const GOVERNING: ReadonlySet<string> = new Set(['policy', 'permission', 'approval_rule'])

/** The usage before the request, and the caps; in micro-USD. */
export interface RecordedSpend {
  readonly amountMicro: number | null
  readonly daily: RecordedWindow | null
  readonly monthly: RecordedWindow | null
}

export interface RecordedWindow {
  readonly limitMicro: number
  readonly spentMicro: number
}
