import { Recent } from '@remit/core'
import type { AnyDatabase, RegisteredAgent } from '@remit/core'
import { agentsSince } from './store.ts'
import { registeredAgent } from './view.ts'

type Agents = ReadonlyMap<string, RegisteredAgent>

/**
 * The agents of organizations. Most changes of a configuration are about something else, and of many
 * agents few change at a time: only those are read again. A row that was read is never older than its
 * revision says, so what is kept needs no time limit.
 */
export class LiveAgents {
  readonly #byOrg = new Recent<{ readonly at: number; readonly agents: Agents }>()

  /** The agents as the transaction sees them; the map is never changed afterwards. */
  async load(orgId: string, tx: AnyDatabase): Promise<Agents> {
    const known = await follow(orgId, tx, this.#byOrg.get(orgId))
    this.#byOrg.keep(orgId, known)
    return known.agents
  }
}

async function follow(
  orgId: string,
  tx: AnyDatabase,
  before: { readonly at: number; readonly agents: Agents } | undefined,
) {
  const changed = await agentsSince(tx, orgId, before?.at ?? null)
  if (before && changed.length === 0) return before
  const agents = new Map(before?.agents)
  for (const row of changed) agents.set(row.agent_id, registeredAgent(row))
  const at = changed.reduce((most, { revision }) => Math.max(most, revision), before?.at ?? -1)
  return { at, agents }
}
