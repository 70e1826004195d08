import type { Ask, Meter } from '@remit/core/decision'
import { evaluatePolicies } from '../../src/policies/evaluate.ts'
import type { PolicyRule } from '../../src/policies/policy.ts'
import type { PolicySnapshot } from '../../src/policies/evaluate.ts'
import { aRule } from './rules.ts'

/** A policy rule about everything, but for what is given. */
export const aPolicy = ({
  effect,
  ...given
}: Pick<PolicyRule, 'effect'> & Parameters<typeof aRule>[0]): PolicyRule => ({
  ...aRule(given),
  effect,
  description: null,
  revision: null,
})

const patient: Meter = { isOver: () => false }

/** The verdict in a word, the default with its effect. */
export function verdictOf(snapshot: PolicySnapshot, ask: Ask, meter: Meter = patient): string {
  const said = evaluatePolicies(snapshot, ask, meter)
  return said.verdict === 'default' ? `default ${said.effect}` : said.verdict
}

/** Returns whether the rules allow a request. */
export const isAllowed = (snapshot: PolicySnapshot, ask: Ask): boolean =>
  ['allow', 'default allow'].includes(verdictOf(snapshot, ask))
