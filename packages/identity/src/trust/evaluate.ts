import type { AgentSelector, TrustQuestion, TrustReason } from '@remit/contract'
import { matchesPattern } from '@remit/contract/patterns'
import type { Meter } from '@remit/core/decision'
import type { ConditionFacts, RegisteredAgent } from '@remit/core/module'
import type { TrustRule } from './policy.ts'

/** The trust policies of one config version; immutable. */
export interface TrustSnapshot {
  readonly rules: readonly TrustRule[]
  readonly agents: ReadonlyMap<string, RegisteredAgent>
  /** Suspended agents that are not registered. */
  readonly stopped: ReadonlyMap<string, string>
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
  { rules, agents, stopped }: TrustSnapshot,
  { source_agent_id: from, target_agent_id: to, action }: TrustQuestion,
  now: number,
  factsOf: FactsOf,
  meter: Meter,
): TrustVerdict {
  const [source, target] = [agents.get(from), agents.get(to)]
  if (source?.status !== 'active') return deny(inactive(source, stopped.has(from)))
  if (target?.status !== 'active') return deny(inactive(target, stopped.has(to)))
  const [actor, other] = [
    { id: from, agent: source },
    { id: to, agent: target },
  ]
  let facts: ConditionFacts | null | undefined
  let allowedBy: string | null = null
  let failed: string | null = null
  let unsure = false
  for (const rule of rules) {
    if (!isAbout(rule, actor, other, action, now)) continue
    const { effect, id, condition } = rule
    if (meter.isOver()) return deny('policy_error')
    if (condition && facts === undefined) facts = factsOf(actor, other)
    const holds = condition ? (facts ? condition.evaluate(facts, meter) : 'error') : true
    if (effect === 'allow') {
      if (holds === true) allowedBy ??= id
      else if (holds === 'error') unsure = true
    } else if (holds === true) return deny('policy_deny', id)
    else if (holds === 'error') failed ??= id
  }
  if (failed !== null) return deny('policy_error', failed)
  if (allowedBy !== null) return { decision: 'allow', reason: 'policy_allow', policyId: allowedBy }
  // An aborted allow is not a mismatch.
  return deny(unsure && meter.isOver() ? 'policy_error' : 'default_deny')
}

/** For registered agents the registry decides. */
function inactive(agent: RegisteredAgent | undefined, isStopped: boolean): TrustReason {
  if (agent) return agent.status === 'removed' ? 'agent_removed' : 'agent_suspended'
  return isStopped ? 'agent_suspended' : 'agent_denied'
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
