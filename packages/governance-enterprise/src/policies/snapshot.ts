import { RuleIndex } from '../rules/rule-index.ts'
import type { PolicyRule } from './policy.ts'

/** The rules of an organization, indexed; never changed. */
export interface PolicySnapshot {
  readonly rules: readonly PolicyRule[]
  readonly index: RuleIndex<PolicyRule>
  /** What is decided when no rule matches. */
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

/** What makes other rules of some rules. */
export interface OverlaidRules {
  readonly add: readonly PolicyRule[]
  readonly remove: readonly string[]
  readonly defaultEffect?: PolicySnapshot['defaultEffect'] | undefined
}

/** The snapshot as it would be with some rules more and some less. */
export function withOverlay(
  { rules, defaultEffect: own }: PolicySnapshot,
  { add, remove, defaultEffect = own }: OverlaidRules,
): PolicySnapshot {
  const gone = new Set(remove)
  return snapshotOf([...rules.filter(({ id }) => !gone.has(id)), ...add], defaultEffect)
}
