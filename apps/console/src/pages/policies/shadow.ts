import type { Policy } from '@remit/contract'
import { covers } from '@remit/contract/patterns'

type Rule = Omit<Policy, 'description' | 'created_by' | 'updated_at' | 'updated_by' | 'revision'>

const coversAll = (outer: readonly string[], inner: readonly string[]): boolean =>
  inner.every((one) => outer.some((pattern) => covers(pattern, one)))

/** In force at every time and for every context. */
const isUnconditional = ({ enabled, mode, condition, not_before, expires_at }: Rule): boolean =>
  enabled && mode === 'enforce' && condition === null && not_before === null && expires_at === null

const isOlder = (one: Rule, other: Rule): boolean =>
  one.created_at < other.created_at || (one.created_at === other.created_at && one.id < other.id)

/**
 * Returns the rule that makes another one superfluous: it has no condition, matches at least the same
 * requests, and denies or has the same effect. Of two equal rules, the newer one is superfluous.
 */
export function shadowOf<R extends Rule>(rule: Rule, rules: readonly R[]): R | null {
  if (!rule.enabled) return null
  const isCovering = (other: R): boolean =>
    other.id !== rule.id &&
    isUnconditional(other) &&
    (other.effect === 'deny' || other.effect === rule.effect) &&
    coversAll(other.agents, rule.agents) &&
    coversAll(other.actions, rule.actions) &&
    coversAll(other.resources, rule.resources)
  return (
    rules.find(
      (other) =>
        isCovering(other) &&
        // A rule that is as wide and unconditional shadows this one back.
        !(isMutual(rule, other) && isOlder(rule, other)),
    ) ?? null
  )
}

const isMutual = (rule: Rule, other: Rule): boolean =>
  isUnconditional(rule) &&
  rule.effect === other.effect &&
  coversAll(rule.agents, other.agents) &&
  coversAll(rule.actions, other.actions) &&
  coversAll(rule.resources, other.resources)
