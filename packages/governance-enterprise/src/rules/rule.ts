import { matchesAll, matchesPattern } from '@remit/contract/patterns'
import type { Ask, Meter } from '@remit/core/decision'
import type { Condition } from './condition.ts'
import { factsOf } from './facts.ts'

/** The common part of all rules: agents, actions, resources and window. */
export interface Rule {
  readonly id: string
  readonly agents: readonly string[]
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  readonly condition: Condition | null
  /** The window `[notBefore, expiresAt)`, milliseconds; null is open. */
  readonly notBefore: number | null
  readonly expiresAt: number | null
}

/** Returns true if a rule matches a request, false if not, or the error of its condition. */
export const matchRule = (rule: Rule, ask: Ask, meter?: Meter): boolean | 'error' =>
  isAbout(rule, ask) && holds(rule, ask, meter)

/** The result of the condition; a rule without one always matches. */
export const holds = ({ condition }: Rule, ask: Ask, meter?: Meter): boolean | 'error' =>
  condition === null ? true : condition.evaluate(factsOf(ask), meter)

/** Matches patterns and window, without the condition. */
export function isAbout(rule: Rule, { request, resource, now }: Ask): boolean {
  if (rule.notBefore !== null && now < rule.notBefore) return false
  if (rule.expiresAt !== null && now >= rule.expiresAt) return false
  return (
    anyMatches(rule.agents, request.agent_id) &&
    anyMatches(rule.actions, request.action) &&
    (resource === null ? isForAll(rule.resources) : anyMatches(rule.resources, resource))
  )
}

function anyMatches(patterns: readonly string[], text: string): boolean {
  for (const pattern of patterns) if (matchesPattern(pattern, text)) return true
  return false
}

/** Returns whether a list of patterns also matches a missing value. */
export function isForAll(patterns: readonly string[]): boolean {
  for (const pattern of patterns) if (matchesAll(pattern)) return true
  return false
}
