import type { Ask, Meter } from '@remit/core/decision'
import type { PolicyRule } from './policy.ts'
import { holds, matchRule, RuleIndex } from '../rules/rule-index.ts'

/** The result of the rules for a request, and the deciding rule. */
type PolicyVerdict =
  | { readonly verdict: 'deny' | 'error' | 'allow'; readonly rule: PolicyRule }
  | { readonly verdict: 'default'; readonly effect: 'allow' | 'deny' }
  | { readonly verdict: 'overtime' }

// Reading the clock costs as much as evaluating a rule.
const RULES_A_LOOK = 16

/**
 * Deny overrides allow: a deny that matches, or whose condition fails, overrides every allow; an
 * allow whose condition fails does not match; without a match the organization's default effect
 * applies. The order of rules has no effect. A decision beyond its time limit is an error.
 */
export function evaluatePolicies(
  { index, defaultEffect }: PolicySnapshot,
  ask: Ask,
  meter: Meter,
): PolicyVerdict {
  const { rules, certain } = index.candidates(ask.request.agent_id, ask.request.action)
  const judge = (rule: PolicyRule, i: number) =>
    i < certain ? holds(rule, ask, meter) : matchRule(rule, ask, meter)
  let failed: PolicyRule | null = null
  let unsure = false
  let looked = 0
  const isOver = () => ++looked % RULES_A_LOOK === 0 && meter.isOver()
  for (const [i, rule] of rules.entries()) {
    if (rule.effect !== 'deny') continue
    const matches = judge(rule, i)
    if (matches === true) return { verdict: 'deny', rule }
    if (matches === 'error') failed ??= rule
    if (isOver()) return { verdict: 'overtime' }
  }
  if (failed) return { verdict: 'error', rule: failed }
  for (const [i, rule] of rules.entries()) {
    if (rule.effect !== 'allow') continue
    const matches = judge(rule, i)
    if (matches === true) return { verdict: 'allow', rule }
    if (matches === 'error') unsure = true
    if (isOver()) return { verdict: 'overtime' }
  }
  // An aborted allow is not a mismatch.
  return unsure && meter.isOver()
    ? { verdict: 'overtime' }
    : { verdict: 'default', effect: defaultEffect }
}

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
