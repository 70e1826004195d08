import { DECISION_MS } from '@remit/core/decision'
import type { Ask, Meter, Observer, StageVerdict } from '@remit/core/decision'
import type { PolicyRule } from './policy.ts'
import { holds, matchesOf, matchRule, RuleIndex } from '../rules/rule-index.ts'

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

/** The verdict of the slot `policy`. */
export function decidePolicies(ask: Ask, snapshot: PolicySnapshot): StageVerdict {
  const said = evaluatePolicies(snapshot, ask, ask.meter)
  switch (said.verdict) {
    case 'allow':
      return { verdict: 'pass', reason: 'policy_allow', notes: matched(said.rule) }
    case 'deny':
      return {
        verdict: 'deny',
        reason: 'policy_deny',
        message: said.rule.description ?? `The policy ${said.rule.id} denies this action.`,
        notes: matched(said.rule),
      }
    case 'error':
      return {
        verdict: 'deny',
        reason: 'policy_error',
        message: `The condition of the policy ${said.rule.id} could not be evaluated.`,
        notes: matched(said.rule),
      }
    case 'overtime':
      return {
        verdict: 'deny',
        reason: 'policy_error',
        message: `The policies could not be evaluated within ${DECISION_MS} ms.`,
      }
    default:
      return said.effect === 'allow'
        ? { verdict: 'pass' }
        : { verdict: 'deny', reason: 'default_deny', message: 'No policy allows this action.' }
  }
}

const matched = ({ id, revision }: PolicyRule) => ({
  matched: [{ kind: 'policy', id, ...(revision !== null && { revision }) }],
})

/**
 * Returns what the observed rules would decide, as a function of the request; null without such rules. An
 * allow whose condition fails would not match.
 */
export function observePolicies({ observed }: PolicySnapshot): Observer | null {
  if (observed.length === 0) return null
  const index = RuleIndex.of(observed)
  return (ask, meter) =>
    [...matchesOf(index, ask, meter)].flatMap(([{ id, revision, effect }, result]) => {
      if (result === 'error' && effect === 'allow') return []
      const would = result === 'error' ? result : effect
      return [{ kind: 'policy', id, ...(revision !== null && { revision }), would }]
    })
}

/** The indexed rules of an organization; immutable. */
export interface PolicySnapshot {
  readonly rules: readonly PolicyRule[]
  /** Rules that decide nothing. */
  readonly observed: readonly PolicyRule[]
  readonly index: RuleIndex<PolicyRule>
  /** The effect if no rule matches. */
  readonly defaultEffect: 'allow' | 'deny'
}

export const snapshotOf = (
  rules: readonly PolicyRule[],
  defaultEffect: PolicySnapshot['defaultEffect'],
  observed: readonly PolicyRule[] = [],
): PolicySnapshot => ({
  rules,
  observed,
  index: RuleIndex.of(rules),
  defaultEffect,
})

/** Converts rules to other rules. */
export interface OverlaidRules {
  readonly add: readonly PolicyRule[]
  readonly observe?: readonly PolicyRule[]
  readonly remove: readonly string[]
  readonly defaultEffect?: PolicySnapshot['defaultEffect'] | undefined
}

/** The snapshot with some rules added and others removed. */
export function withOverlay(
  { rules, observed, defaultEffect: own }: PolicySnapshot,
  { add, observe: more = [], remove, defaultEffect = own }: OverlaidRules,
): PolicySnapshot {
  const gone = new Set(remove)
  const left = (some: readonly PolicyRule[]) => some.filter(({ id }) => !gone.has(id))
  return snapshotOf([...left(rules), ...add], defaultEffect, [...left(observed), ...more])
}

/** The warning for a plan without policies, where there are some. */
export const policiesLeftOut = ({ rules }: PolicySnapshot): string | null =>
  rules.length > 0 ? 'policies_not_in_plan' : null
