import { MAX_CACHED_ORGS } from '@remit/core/base'
import type { AnyDatabase } from '@remit/core/db'
import type { RegisteredAgent } from '@remit/core/module'
import { LRUCache } from 'lru-cache'
import { agentsSince } from './store.ts'
import { registeredAgent } from './view.ts'

type Agents = ReadonlyMap<string, RegisteredAgent>

/**
 * Caches the agents of organizations. Few agents change at a time, and most configuration changes
 * concern other tables, so only changed rows are read again. A row is never older than its
 * revision, so cached rows need no time limit.
 */
export class LiveAgents {
  readonly #byOrg = new LRUCache<string, { readonly at: number; readonly agents: Agents }>({
    max: MAX_CACHED_ORGS,
  })

  /** Loads the agents in the transaction; the returned map is immutable. */
  async load(orgId: string, tx: AnyDatabase): Promise<Agents> {
    const known = await follow(orgId, tx, this.#byOrg.get(orgId))
    this.#byOrg.set(orgId, known)
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
