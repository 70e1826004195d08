import type { AgentSelector, TrustPolicy, TrustPolicyInput } from '@remit/contract'
import { isoTime } from '@remit/core/base'
import type { CompiledCondition, Conditions, ConditionVariables } from '@remit/core/module'
import { orgTable } from '@remit/core/db'
import type { TrustPolicyRow } from '../tables/trust.ts'
import type { Tables } from '../tables/schema.ts'

/** A compiled policy. */
export interface TrustRule {
  readonly id: string
  readonly effect: 'allow' | 'deny'
  readonly sources: readonly AgentSelector[]
  readonly targets: readonly AgentSelector[]
  readonly actions: readonly string[]
  readonly condition: CompiledCondition | null
  /** Milliseconds; null for no end. */
  readonly expiresAt: number | null
}

export const TRUST_VARIABLES: ConditionVariables = {
  source: 'record',
  target: 'record',
  action: 'string',
  context: 'record',
  now: 'timestamp',
}

export const toRow = (
  input: TrustPolicyInput,
  made: Pick<TrustPolicyRow, 'org_id' | 'id' | 'created_at' | 'created_by'>,
): TrustPolicyRow => ({
  ...made,
  description: input.description,
  effect: input.effect,
  source_agents: JSON.stringify(input.source_agents),
  target_agents: JSON.stringify(input.target_agents),
  actions: JSON.stringify(input.actions),
  condition: input.condition,
  enabled: input.enabled ? 1 : 0,
  expires_at: input.expires_at && isoTime(Date.parse(input.expires_at)),
})

/** A stored policy in API and ledger form. */
export const toPolicy = (row: TrustPolicyRow): TrustPolicy => ({
  id: row.id,
  description: row.description,
  effect: row.effect,
  source_agents: JSON.parse(row.source_agents) as AgentSelector[],
  target_agents: JSON.parse(row.target_agents) as AgentSelector[],
  actions: JSON.parse(row.actions) as string[],
  condition: row.condition,
  enabled: row.enabled === 1,
  expires_at: row.expires_at,
  created_at: row.created_at,
  created_by: row.created_by,
})

/** A condition without an evaluator: a deny matches, and an allow does not. */
const UNREADABLE: CompiledCondition = { warnings: { allow: [], deny: [] }, evaluate: () => 'error' }

export function toRule(row: TrustPolicyRow, conditions: Conditions | undefined): TrustRule {
  const { id, effect, source_agents, target_agents, actions, condition, expires_at } = toPolicy(row)
  return {
    id,
    effect,
    sources: source_agents,
    targets: target_agents,
    actions,
    condition:
      condition === null ? null : (conditions?.stored(condition, TRUST_VARIABLES) ?? UNREADABLE),
    expiresAt: expires_at === null ? null : Date.parse(expires_at),
  }
}

export const {
  list: listTrust,
  count: countTrust,
  insert: insertTrust,
  remove: deleteTrust,
} = orgTable<Tables, 'trust_policy'>('trust_policy', 'id')
