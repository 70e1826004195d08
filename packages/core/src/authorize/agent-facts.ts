import type { Agent } from '@remit/contract'

type Facts = Pick<Agent, 'agent_id' | 'name' | 'environment' | 'labels' | 'owners' | 'spiffe_id'>

/** What conditions read as `agent` of a registered agent, as it is served and as its entries have it. */
export const agentFacts = (agent: Facts): Readonly<Record<string, unknown>> => ({
  id: agent.agent_id,
  name: agent.name,
  environment: agent.environment,
  labels: agent.labels,
  owners: agent.owners,
  spiffe_id: agent.spiffe_id,
})
