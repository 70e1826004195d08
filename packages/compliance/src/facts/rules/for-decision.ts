import type { Plan } from '@remit/contract'
import { isKindInPlan } from '../plan.ts'
import type { FactEntry } from '../entry.ts'
import type { InForce } from '../state/rules-in-force.ts'
import type { FactState } from '../state/state.ts'

const NONE: InForce = { policies: 0, denies: 0, approvalRules: 0 }

/**
 * Returns whether policies and approval rules were evaluated for a decision. The entry records the
 * plan of the decision: that of the organization, or a lower one of the license. Below enterprise,
 * both are kept but not evaluated. Without a recorded plan they count as evaluated.
 */
export const areRulesEvaluated = ({ decided }: Pick<FactEntry, 'decided'>): boolean => {
  const plan = decided?.plan ?? null
  return plan === null || isKindInPlan('policy_rules', plan as Plan)
}

/** The rules that applied to a decision. */
export const inForceFor = (entry: FactEntry, state: FactState): InForce =>
  areRulesEvaluated(entry) ? state.inForce.at(entry.time) : NONE
