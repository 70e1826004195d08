import type { TrustAnswer, TrustQuestion, AgentSelector, TrustReason } from '@remit/contract'
import { MAX_CACHED_ORGS } from '@remit/core/base'
import { actorOf, ownAgent } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { DecisionMeter } from '@remit/core/decision'
import type { Meter } from '@remit/core/decision'
import { firstOf, lane, LATER } from '@remit/core/ledger/lanes'
import type { Lane, Outcome, LedgerScope } from '@remit/core/ledger/lanes'
import type { Deps, ConditionFacts, RegisteredAgent } from '@remit/core/module'
import { LRUCache } from 'lru-cache'
import { matchesPattern } from '@remit/contract/patterns'
import { toRule, listTrust } from './policy.ts'
import type { TrustRule } from './policy.ts'

/** Decides and records trust evaluations; all that wait for a transaction share it. */
export function trustLane({ offered }: Pick<Deps, 'offered'>): Lane<TrustQuestion, TrustAnswer> {
  const known = new LRUCache<string, { version: number; snapshot: TrustSnapshot }>({
    max: MAX_CACHED_ORGS,
  })

  /** Cached until the organization's config version changes; the holder of the lock knows it. */
  async function read({ orgId, tx, configVersion: version }: LedgerScope): Promise<TrustSnapshot> {
    const before = known.get(orgId)
    if (before?.version === version) return before.snapshot
    const conditions = offered('conditions')
    const rows = await listTrust(tx, orgId)
    const snapshot: TrustSnapshot = {
      rules: rows.filter((row) => row.enabled === 1).map((row) => toRule(row, conditions)),
      agents: (await offered('agentRegistry')?.load(orgId, tx)) ?? new Map(),
      stopped: (await offered('agentSwitch')?.stopped(orgId, tx)) ?? new Map(),
    }
    known.set(orgId, { version, snapshot })
    return snapshot
  }

  function decide(snapshot: TrustSnapshot, question: TrustQuestion, now: number): TrustVerdict {
    const factsOf: FactsOf = (source, target) =>
      offered('conditions')?.facts({
        source: { ...source.agent.attributes, id: source.id },
        target: { ...target.agent.attributes, id: target.id },
        action: question.action,
        context: question.context ?? {},
        now: new Date(now),
      }) ?? null
    return evaluateTrust(snapshot, question, now, factsOf, new DecisionMeter())
  }

  return lane('trust', async (works, scope) => {
    const snapshot = await read(scope)
    const verdicts = scope.time.firstOf(works, ({ job }) => decide(snapshot, job, scope.now))
    return {
      outcomes: works.map(({ job, caller }, i) => {
        const verdict = verdicts[i]
        return verdict ? outcomeOf(job, caller, verdict, scope) : LATER
      }),
    }
  })
}

function outcomeOf(
  question: TrustQuestion,
  caller: Caller | null,
  { decision, reason, policyId }: TrustVerdict,
  { configVersion }: LedgerScope,
): Outcome<TrustAnswer> {
  const { source_agent_id: source, target_agent_id: target, action, context = {} } = question
  // A response must not reveal to an agent which agents are registered.
  const isHidden = ownAgent(caller) !== null && reason.startsWith('agent_')
  return {
    entries: [
      {
        kind: 'trust.evaluated',
        actor: actorOf(caller),
        agent_id: source,
        action,
        decision,
        reason,
        data: {
          source_agent_id: source,
          target_agent_id: target,
          policy_id: policyId,
          config_version: configVersion,
          context,
        },
      },
    ],
    reply: (recorded) => ({
      decision,
      reason: isHidden ? 'default_deny' : reason,
      policy_id: policyId,
      ledger: firstOf(recorded).receipt,
    }),
  }
}

/** The trust policies of one config version; immutable. */
interface TrustSnapshot {
  readonly rules: readonly TrustRule[]
  readonly agents: ReadonlyMap<string, RegisteredAgent>
  /** Suspended agents that are not registered. */
  readonly stopped: ReadonlyMap<string, string>
}

interface TrustVerdict {
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
function evaluateTrust(
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
