import { matchesAll, matchesPattern } from '@remit/core'
import type { Ask, Meter } from '@remit/core'
import type { Condition } from './condition.ts'
import { factsOf } from './facts.ts'

/** What every kind of rule has: whom, what and when it is about. */
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

/** Whether a rule is about a request, or the error that its condition ends in. */
export const matchRule = (rule: Rule, ask: Ask, meter?: Meter): boolean | 'error' =>
  isAbout(rule, ask) && holds(rule, ask, meter)

/** What the condition says; a rule without one always holds. */
export const holds = ({ condition }: Rule, ask: Ask, meter?: Meter): boolean | 'error' =>
  condition === null ? true : condition.evaluate(factsOf(ask), meter)

/** Everything but the condition: patterns and window. */
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

/** Whether a list of patterns matches also what is not there. */
export function isForAll(patterns: readonly string[]): boolean {
  for (const pattern of patterns) if (matchesAll(pattern)) return true
  return false
}
