import type { RegisteredAgent } from '@remit/core'

/** What is known of an organization's agents apart from their permissions. */
export interface Roster {
  /** Agents of the registry, removed ones too. */
  readonly registry: ReadonlyMap<string, RegisteredAgent>
  /** Agents outside the registry that were stopped, with the reason. */
  readonly suspended: ReadonlyMap<string, string>
  /** Whether agents outside the registry may act. */
  readonly unknownAgents: 'allow' | 'deny'
}

/** Whether an agent may act at all. */
export type AgentState =
  | { readonly state: 'active' }
  | { readonly state: 'suspended'; readonly reason: string }
  | { readonly state: 'removed' }
  | { readonly state: 'not_registered' }

const ACTIVE: AgentState = { state: 'active' }

/** The registry's word is the last one about the agents that it knows. */
export function agentState(agentId: string, roster: Roster): AgentState {
  const agent = roster.registry.get(agentId)
  if (agent?.status === 'active') return ACTIVE
  if (agent?.status === 'removed') return { state: 'removed' }
  const reason = agent ? agent.reason : roster.suspended.get(agentId)
  if (agent || reason !== undefined) return { state: 'suspended', reason: reason ?? '' }
  return roster.unknownAgents === 'allow' ? ACTIVE : { state: 'not_registered' }
}
