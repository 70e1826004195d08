import type { ControlStatus, Plan, StatusReason } from '@remit/contract'
import { CHECKS } from '../catalogue/catalogue.ts'
import type { CheckDefinition, Control } from '../catalogue/definitions.ts'
import { isKindInPlan } from '../catalogue/plan.ts'
import type { Evidence, Outcome } from '../facts/index.ts'

/** What the status of controls is found from, as at the end of the period. */
export interface Standing {
  /** The chain up to the last entry of the period, and every checkpoint that was kept of it. */
  readonly ledgerVerified: boolean
  /** Null where nothing tells of it: then nothing is left out for it. */
  readonly plan: Plan | null
  readonly outcomes: ReadonlyMap<string, Outcome>
  readonly evidence: ReadonlyMap<string, Evidence>
}

export interface Verdict {
  readonly status: ControlStatus
  readonly reason: StatusReason | null
}

/** A sound chain alone says nothing about these controls; about the others it says everything. */
const ABOUT_THE_LEDGER: ReadonlySet<string> = new Set([
  'ledger_integrity',
  'ledger_continuity',
  'log_retention',
  'report_history',
])

export const isApplicable = (outcome: Outcome | undefined): outcome is Outcome =>
  outcome !== undefined && outcome.population > 0

const hasFailed = (outcome: Outcome | undefined): boolean => isApplicable(outcome) && !outcome.ok

const hasPassed = (outcome: Outcome | undefined): boolean => isApplicable(outcome) && outcome.ok

/**
 * The status of a control; `checks` are those that name it. The first rule that holds decides: what
 * nobody looked at is never satisfied, and what went wrong is never hidden behind what was not used.
 */
export function statusOf(
  { coverage, evidence: kinds }: Pick<Control, 'coverage' | 'evidence'>,
  checks: readonly CheckDefinition[],
  { ledgerVerified, plan, outcomes, evidence }: Standing,
): Verdict {
  const [primary] = kinds
  if (coverage === 'manual' || primary === undefined) return { status: 'manual', reason: null }
  if (!ledgerVerified) return { status: 'attention', reason: 'ledger_not_verified' }
  if (checks.some((check) => check.severity !== 'low' && hasFailed(outcomes.get(check.id))))
    return { status: 'attention', reason: 'check_failed' }
  if (plan !== null && !isKindInPlan(primary, plan))
    return { status: 'not_evidenced', reason: 'not_in_plan' }
  const shown = evidence.get(primary)
  if (!shown?.operated) return { status: 'not_evidenced', reason: shown?.reason ?? 'not_exercised' }
  const isOfSubstance = ({ id }: CheckDefinition): boolean =>
    ABOUT_THE_LEDGER.has(primary) || !id.startsWith('LED-')
  if (!checks.some((check) => isOfSubstance(check) && hasPassed(outcomes.get(check.id))))
    return { status: 'not_evidenced', reason: 'nothing_to_check' }
  return { status: 'satisfied', reason: null }
}

/** The checks that name a control of a framework, in the order of the catalogue. */
export const checksOf = (
  framework: keyof CheckDefinition['controls'],
  controlId: string,
): CheckDefinition[] =>
  [...CHECKS.values()].filter(({ controls }) => controls[framework].includes(controlId))
