import { RuleIndex } from '../rules/rule-index.ts'
import type { PolicyRule } from './policy.ts'

/** The indexed rules of an organization; immutable. */
export interface PolicySnapshot {
  readonly rules: readonly PolicyRule[]
  readonly index: RuleIndex<PolicyRule>
  /** The effect if no rule matches. */
  readonly defaultEffect: 'allow' | 'deny'
}

export const snapshotOf = (
  rules: readonly PolicyRule[],
  defaultEffect: PolicySnapshot['defaultEffect'],
): PolicySnapshot => ({
  rules,
  index: RuleIndex.of(rules),
  defaultEffect,
})

/** Converts rules to other rules. */
export interface OverlaidRules {
  readonly add: readonly PolicyRule[]
  readonly remove: readonly string[]
  readonly defaultEffect?: PolicySnapshot['defaultEffect'] | undefined
}

/** The snapshot with some rules added and others removed. */
export function withOverlay(
  { rules, defaultEffect: own }: PolicySnapshot,
  { add, remove, defaultEffect = own }: OverlaidRules,
): PolicySnapshot {
  const gone = new Set(remove)
  return snapshotOf([...rules.filter(({ id }) => !gone.has(id)), ...add], defaultEffect)
}
