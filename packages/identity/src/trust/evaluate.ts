import type { AgentSelector, TrustQuestion, TrustReason } from '@remit/contract'
import { matchesPattern } from '@remit/core'
import type { ConditionFacts, Meter, RegisteredAgent } from '@remit/core'
import type { TrustRule } from './policy.ts'

/** The trust policies of one config version; immutable. */
export interface TrustSnapshot {
  readonly rules: readonly TrustRule[]
  readonly agents: ReadonlyMap<string, RegisteredAgent>
}

export interface TrustVerdict {
  readonly decision: 'allow' | 'deny'
  readonly reason: TrustReason
  readonly policyId: string | null
}

/** An agent with its id, for selectors. */
interface Party {
  readonly id: string
  readonly agent: RegisteredAgent
}

type FactsOf = (source: Party, target: Party) => ConditionFacts | null

const deny = (reason: TrustReason, policyId: string | null = null): TrustVerdict => ({
  decision: 'deny',
  reason,
  policyId,
})

/**
 * Both agents must be registered and active. Then deny overrides allow: a deny that matches, or
 * whose condition fails, overrides every allow; an allow whose condition fails does not match;
 * without an allow the result is deny. The order of policies has no effect. An agent acting towards
 * itself is no exception.
 */
export function evaluateTrust(
  { rules, agents }: TrustSnapshot,
  { source_agent_id: from, target_agent_id: to, action }: TrustQuestion,
  now: number,
  factsOf: FactsOf,
  meter: Meter,
): TrustVerdict {
  const [source, target] = [agents.get(from), agents.get(to)]
  if (!source || !target) return deny('agent_denied')
  for (const { status } of [source, target]) if (status !== 'active') return deny(`agent_${status}`)
  const [actor, other] = [
    { id: from, agent: source },
    { id: to, agent: target },
  ]
  let facts: ConditionFacts | null | undefined
  let allowedBy: string | null = null
  let failed: string | null = null
  for (const rule of rules) {
    if (!isAbout(rule, actor, other, action, now)) continue
    const { effect, id, condition } = rule
    if (meter.isOver()) return deny('policy_error')
    if (condition && facts === undefined) facts = factsOf(actor, other)
    const holds = condition ? (facts ? condition.evaluate(facts, meter) : 'error') : true
    if (effect === 'allow') {
      if (holds === true) allowedBy ??= id
    } else if (holds === true) return deny('policy_deny', id)
    else if (holds === 'error') failed ??= id
  }
  if (failed !== null) return deny('policy_error', failed)
  return allowedBy === null
    ? deny('default_deny')
    : { decision: 'allow', reason: 'policy_allow', policyId: allowedBy }
}

function isAbout(
  { sources, targets, actions, expiresAt }: TrustRule,
  source: Party,
  target: Party,
  action: string,
  now: number,
): boolean {
  if (expiresAt !== null && now >= expiresAt) return false
  return (
    actions.some((pattern) => matchesPattern(pattern, action)) &&
    sources.some((selector) => selects(selector, source)) &&
    targets.some((selector) => selects(selector, target))
  )
}

function selects(selector: AgentSelector, { id, agent }: Party): boolean {
  if (typeof selector === 'string') return matchesPattern(selector, id)
  const labels = (agent.attributes['labels'] ?? {}) as Readonly<Record<string, unknown>>
  return Object.entries(selector.labels).every(
    ([name, value]) => Object.hasOwn(labels, name) && labels[name] === value,
  )
}
