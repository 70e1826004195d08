import type { Conditions } from '@remit/core/module'
import { admitCondition } from './admit-condition.ts'
import { conditionOf } from './condition.ts'
import { makeFacts } from './facts.ts'

/** Conditions for other modules, with the evaluator of policies. */
export const conditions: Conditions = {
  admit: admitCondition,
  stored: conditionOf,
  facts: makeFacts,
}
