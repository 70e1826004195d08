import { findOrganizationById, on, settingsOf } from '@remit/core'
import type { AnyDatabase, CoreTables, Deps, RegisteredAgent } from '@remit/core'
import type { Tables } from '../tables/schema.ts'
import type { Roster } from './state.ts'

/** What is known of the organization's agents, as a handle or transaction sees it. */
export type ReadRoster = (db: AnyDatabase, orgId: string) => Promise<AgentRules>

/** The roster with what the organization asks of those that call for agents. */
export interface AgentRules extends Roster {
  /** Agents act with credentials of their own, never through an ingest key. */
  readonly ownCredentialsOnly: boolean
}

const NOBODY: ReadonlyMap<string, RegisteredAgent> = new Map()

/** Reads the registry through its port; where there is none, no agent is registered. */
export const rosterReader =
  ({ offered }: Pick<Deps, 'offered'>): ReadRoster =>
  async (db, orgId) => {
    const settings = settingsOf(await findOrganizationById(on<CoreTables>(db), orgId))
    return {
      registry: (await offered('agentRegistry')?.load(orgId, db)) ?? NOBODY,
      suspended: await readStops(db, orgId),
      unknownAgents: settings.unknown_agents,
      ownCredentialsOnly: settings.require_agent_credentials,
    }
  }

async function readStops(db: AnyDatabase, orgId: string): Promise<Map<string, string>> {
  const stops = await on<Tables>(db)
    .selectFrom('agent_stop')
    .select(['agent_id', 'reason'])
    .where('org_id', '=', orgId)
    .execute()
  return new Map(stops.map(({ agent_id, reason }) => [agent_id, reason]))
}
