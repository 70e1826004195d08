import type { TrustAnswer, TrustQuestion } from '@remit/contract'
import { MAX_CACHED_ORGS } from '@remit/core/base'
import { actorOf, ownAgent } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { DecisionMeter } from '@remit/core/decision'
import { firstOf, LATER } from '@remit/core/ledger/lanes'
import type { Item, Lane, LaneResult, Outcome, WriteContext } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { LRUCache } from 'lru-cache'
import { evaluateTrust } from './evaluate.ts'
import type { TrustSnapshot, TrustVerdict } from './evaluate.ts'
import { toRule } from './policy.ts'
import { listTrust } from './store.ts'

/** Decides and records trust evaluations; all that wait for a transaction share it. */
export class TrustLane implements Lane<TrustQuestion, TrustAnswer> {
  readonly name = 'trust'
  readonly #deps: Pick<Deps, 'offered'>
  readonly #known = new LRUCache<string, { version: number; snapshot: TrustSnapshot }>({
    max: MAX_CACHED_ORGS,
  })

  constructor(deps: Pick<Deps, 'offered'>) {
    this.#deps = deps
  }

  async run(
    items: readonly Item<TrustQuestion>[],
    scope: WriteContext,
  ): Promise<LaneResult<TrustAnswer>> {
    const snapshot = await this.#snapshot(scope)
    const verdicts = scope.time.firstOf(items, ({ job }) => this.#decide(snapshot, job, scope.now))
    return {
      outcomes: items.map(({ job, caller }, i) => {
        const verdict = verdicts[i]
        return verdict ? outcomeOf(job, caller, verdict, scope) : LATER
      }),
    }
  }

  #decide(snapshot: TrustSnapshot, question: TrustQuestion, now: number): TrustVerdict {
    const conditions = this.#deps.offered('conditions')
    return evaluateTrust(
      snapshot,
      question,
      now,
      (source, target) =>
        conditions?.facts({
          source: { ...source.agent.attributes, id: source.id },
          target: { ...target.agent.attributes, id: target.id },
          action: question.action,
          context: question.context ?? {},
          now: new Date(now),
        }) ?? null,
      new DecisionMeter(),
    )
  }

  /** Cached until the organization's config version changes; the holder of the lock knows it. */
  async #snapshot({ orgId, tx, configVersion: version }: WriteContext): Promise<TrustSnapshot> {
    const known = this.#known.get(orgId)
    if (known?.version === version) return known.snapshot
    const conditions = this.#deps.offered('conditions')
    const rows = await listTrust(tx, orgId)
    const snapshot: TrustSnapshot = {
      rules: rows.filter((row) => row.enabled === 1).map((row) => toRule(row, conditions)),
      agents: (await this.#deps.offered('agentRegistry')?.load(orgId, tx)) ?? new Map(),
      stopped: (await this.#deps.offered('agentSwitch')?.stopped(orgId, tx)) ?? new Map(),
    }
    this.#known.set(orgId, { version, snapshot })
    return snapshot
  }
}

function outcomeOf(
  question: TrustQuestion,
  caller: Caller | null,
  { decision, reason, policyId }: TrustVerdict,
  { configVersion }: WriteContext,
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
