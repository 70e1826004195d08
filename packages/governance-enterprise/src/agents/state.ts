import type { RegisteredAgent } from '@remit/core/module'

/** The known agents of an organization, without their permissions. */
export interface Roster {
  /** Registered agents, including removed ones. */
  readonly registry: ReadonlyMap<string, RegisteredAgent>
  /** Suspended agents outside the registry, with the reason. */
  readonly suspended: ReadonlyMap<string, string>
  /** The treatment of agents outside the registry. */
  readonly unknownAgents: 'allow' | 'deny'
}

/** The state of an agent with regard to acting at all. */
export type AgentAdmission =
  | { readonly state: 'active' }
  | { readonly state: 'suspended'; readonly reason: string }
  | { readonly state: 'removed' }
  | { readonly state: 'not_registered' }

const ACTIVE: AgentAdmission = { state: 'active' }

/** For registered agents the registry decides. */
export function agentAdmission(agentId: string, roster: Roster): AgentAdmission {
  const agent = roster.registry.get(agentId)
  if (agent?.status === 'active') return ACTIVE
  if (agent?.status === 'removed') return { state: 'removed' }
  const reason = agent ? agent.reason : roster.suspended.get(agentId)
  if (agent || reason !== undefined) return { state: 'suspended', reason: reason ?? '' }
  return roster.unknownAgents === 'allow' ? ACTIVE : { state: 'not_registered' }
}
