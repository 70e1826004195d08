/** What is known of agents apart from their permissions. The registry of agents will add to it. */
export interface Roster {
  /** Suspended agents, with the reason. */
  readonly suspended: ReadonlyMap<string, string>
}

/** Whether an agent may act at all. */
export type AgentState =
  | { readonly state: 'active' }
  | { readonly state: 'suspended'; readonly reason: string }

const ACTIVE: AgentState = { state: 'active' }

export function agentState(agentId: string, { suspended }: Roster): AgentState {
  const reason = suspended.get(agentId)
  return reason === undefined ? ACTIVE : { state: 'suspended', reason }
}
