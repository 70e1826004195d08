import type { Ask, Meter } from '@remit/core'
import { holds, matchRule } from '../rules/rule.ts'
import type { PolicyRule } from './policy.ts'
import type { PolicySnapshot } from './snapshot.ts'

/** What the rules say of a request, and the rule that said it. */
export type PolicyVerdict =
  | { readonly verdict: 'deny' | 'error' | 'allow'; readonly rule: PolicyRule }
  | { readonly verdict: 'default'; readonly effect: 'allow' | 'deny' }
  | { readonly verdict: 'overtime' }

// Asking the time costs as much as a rule.
const RULES_A_LOOK = 16

/**
 * Deny wins: a deny that matches, or whose condition is an error, beats every allow; an allow whose
 * condition is an error does not match; without a match the organization's default decides. The order
 * of the rules does not matter. A decision that takes too long is an error of its own.
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
  // An allow that was cut short is not one that does not match.
  return unsure && meter.isOver()
    ? { verdict: 'overtime' }
    : { verdict: 'default', effect: defaultEffect }
}
