import type { Agent } from '@remit/contract'

type Facts = Pick<Agent, 'agent_id' | 'name' | 'environment' | 'labels' | 'owners' | 'spiffe_id'>

/**
 * The attributes of a registered agent that conditions read as `agent`: the same as in the API and
 * in entries.
 */
export const agentFacts = (agent: Facts): Readonly<Record<string, unknown>> => ({
  id: agent.agent_id,
  name: agent.name,
  environment: agent.environment,
  labels: agent.labels,
  owners: agent.owners,
  spiffe_id: agent.spiffe_id,
})
