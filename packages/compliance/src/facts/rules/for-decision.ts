import type { Plan } from '@remit/contract'
import { isKindInPlan } from '../plan.ts'
import type { FactEntry } from '../entry.ts'
import type { InForce } from '../state/rules-in-force.ts'
import type { State } from '../state/state.ts'

const NONE: InForce = { policies: 0, denies: 0, approvalRules: 0 }

/**
 * Whether a decision was put to policies and approval rules. The entry tells with which plan it was taken:
 * that of the organization, or a lower one of the licence. Below enterprise what there still is of both is
 * kept and not evaluated. Of an entry that does not tell nothing else is assumed.
 */
export const isPutToRules = ({ decided }: Pick<FactEntry, 'decided'>): boolean => {
  const plan = decided?.plan ?? null
  return plan === null || isKindInPlan('policy_rules', plan as Plan)
}

/** The rules that a decision was put to. */
export const inForceFor = (entry: FactEntry, state: State): InForce =>
  isPutToRules(entry) ? state.inForce.at(entry.time) : NONE
