import { on } from '@remit/core/db'
import type { AnyDatabase, CoreTables } from '@remit/core/db'
import type { Deps, RegisteredAgent } from '@remit/core/module'
import { settingsOf } from '@remit/core/orgs/settings'
import { findOrganizationById } from '@remit/core/orgs'
import type { Roster } from './state.ts'
import { readStops } from './stop.ts'

/** Reads the known agents of the organization in the given handle or transaction. */
export type ReadRoster = (db: AnyDatabase, orgId: string) => Promise<AgentRules>

/** The roster with the organization's settings for callers. */
export interface AgentRules extends Roster {
  /** Agents must use their own credentials, not an ingest key. */
  readonly ownCredentialsOnly: boolean
  /** False without a registry: then nothing is known about agents. */
  readonly hasRegistry: boolean
}

const NOBODY: ReadonlyMap<string, RegisteredAgent> = new Map()

/** Reads the registry through its port; without a registry, no agent is registered. */
export const rosterReader =
  ({ offered }: Pick<Deps, 'offered'>): ReadRoster =>
  async (db, orgId) => {
    const settings = settingsOf(await findOrganizationById(on<CoreTables>(db), orgId))
    const registry = await offered('agentRegistry')?.load(orgId, db)
    return {
      registry: registry ?? NOBODY,
      hasRegistry: registry !== undefined,
      suspended: await readStops(db, orgId),
      unknownAgents: settings.unknown_agents,
      ownCredentialsOnly: settings.require_agent_credentials,
    }
  }
