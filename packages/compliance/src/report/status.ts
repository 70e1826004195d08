import type { ControlStatus, Plan, ReportCheck, StatusReason } from '@remit/contract'
import { CHECKS } from '../catalogue/catalogue.ts'
import type { CheckDefinition, Control, MinimumData } from '../catalogue/definitions.ts'
import { isKindInPlan } from '../facts/meter.ts'
import type { Evidence, PeriodFacts, CheckOutcome } from '../facts/index.ts'

/** The facts that the status of controls depends on, at the end of the period. */
export interface StatusInputs {
  /** The chain up to the last entry of the period, and every known checkpoint of it. */
  readonly ledgerVerified: boolean
  /** Null if no entry records the plan; then no control is excluded by plan. */
  readonly plan: Plan | null
  readonly outcomes: ReadonlyMap<string, CheckOutcome>
  readonly days: PeriodFacts['days']
  readonly evidence: ReadonlyMap<string, Evidence>
}

export interface ControlResult {
  readonly status: ControlStatus
  readonly reason: StatusReason | null
}

/** A valid chain alone is no evidence for these controls, and sufficient for the others. */
const ABOUT_THE_LEDGER: ReadonlySet<string> = new Set([
  'ledger_integrity',
  'ledger_continuity',
  'log_retention',
  'report_history',
])

export const isApplicable = (outcome: CheckOutcome | undefined): outcome is CheckOutcome =>
  outcome !== undefined && outcome.population > 0

type Result = ReportCheck['result']

/** The number of cases that the minimum of a check counts. */
export const basisOf = ({ basis, population }: CheckOutcome): number => basis ?? population

/** No check passes over fewer days of use, whatever its own days are. */
const DAYS_OF_USE = 7

/** The days of a check and their minimum: its own, or those of use if only these are too few. */
export function daysOf(
  { least, carries }: CheckDefinition,
  outcome: CheckOutcome | undefined,
  days: PeriodFacts['days'],
): { readonly days: number; readonly least: Pick<MinimumData, 'days' | 'over'> } {
  const own = least.over === 'cases' ? (outcome?.days ?? 0) : days[least.over]
  return own < least.days || days.use >= DAYS_OF_USE || !carries
    ? { days: own, least: { days: least.days, over: least.over } }
    : { days: days.use, least: { days: DAYS_OF_USE, over: 'use' } }
}

/**
 * The result of a check. A failure needs no minimum; a pass needs the population and the days that
 * the catalogue requires, and days of use.
 */
export function resultOf(
  check: CheckDefinition,
  outcome: CheckOutcome | undefined,
  days: PeriodFacts['days'],
): Result {
  if (!isApplicable(outcome)) return 'not_applicable'
  if (!outcome.ok) return 'fail'
  if (check.least.over === 'cases' && basisOf(outcome) === 0) return 'not_applicable'
  // First, because few days are the reason for few cases.
  const counted = daysOf(check, outcome, days)
  if (counted.days < counted.least.days) return 'too_young'
  return basisOf(outcome) < check.least.population ? 'too_small' : 'pass'
}

/** The reason why results do not suffice for a pass; null if all applicable ones do. */
const shortfallOf = (results: readonly Result[]): 'too_small' | 'too_young' | null =>
  (['too_young', 'too_small'] as const).find((one) => results.includes(one)) ?? null

/**
 * The status of a control; `checks` are those that name it. The first matching rule decides: a
 * control without examined cases is never satisfied, and a failure always shows.
 */
export function statusOf(
  { coverage, evidence: kinds, requires }: Pick<Control, 'coverage' | 'evidence' | 'requires'>,
  checks: readonly CheckDefinition[],
  { ledgerVerified, plan, outcomes, evidence, days }: StatusInputs,
): ControlResult {
  const [primary] = kinds
  if (coverage === 'manual' || primary === undefined) return { status: 'manual', reason: null }
  if (!ledgerVerified) return { status: 'attention', reason: 'ledger_not_verified' }
  const results = new Map(
    checks.map((check) => [check, resultOf(check, outcomes.get(check.id), days)]),
  )
  const isSerious = ({ severity }: CheckDefinition): boolean => severity !== 'low'
  if (checks.some((check) => isSerious(check) && results.get(check) === 'fail'))
    return { status: 'attention', reason: 'check_failed' }
  if (plan !== null && !isKindInPlan(primary, plan))
    return { status: 'not_evidenced', reason: 'not_in_plan' }
  const shown = evidence.get(primary)
  if (!shown?.operated) return { status: 'not_evidenced', reason: shown?.reason ?? 'not_exercised' }
  const isOfSubstance = ({ id, carries }: CheckDefinition): boolean =>
    carries && (ABOUT_THE_LEDGER.has(primary) || !id.startsWith('LED-'))
  const resultsOf = (some: (check: CheckDefinition) => boolean): Result[] =>
    checks.filter(some).map((check) => results.get(check) ?? 'not_applicable')
  const required = resultsOf(({ id }) => requires?.includes(id) ?? false)
  const isMissing = requires !== undefined && !required.includes('pass')
  const carrying = resultsOf(isOfSubstance)
  const reason =
    shortfallOf(resultsOf((check) => check.carries && isSerious(check))) ??
    (isMissing ? (shortfallOf(required) ?? 'nothing_to_check') : null) ??
    (carrying.includes('pass') ? null : (shortfallOf(carrying) ?? 'nothing_to_check'))
  if (reason !== null) return { status: 'not_evidenced', reason }
  return { status: 'satisfied', reason: null }
}

/** The checks that name a control of a framework, in the order of the catalogue. */
export const checksOf = (
  framework: keyof CheckDefinition['controls'],
  controlId: string,
): CheckDefinition[] =>
  [...CHECKS.values()].filter(({ controls }) => controls[framework].includes(controlId))
