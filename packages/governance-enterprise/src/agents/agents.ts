import type { OrganizationSettings } from '@remit/contract'
import type { RegisteredAgent, Deps } from '@remit/core/module'
import { on } from '@remit/core/db'
import type { AnyDatabase, CoreTables } from '@remit/core/db'
import { settingsOf } from '@remit/core/orgs/settings'
import { findOrganizationById } from '@remit/core/orgs'
import { readStops } from './stop.ts'

/** The known agents of an organization, without their permissions. */
export interface Roster {
  /** Registered agents, including removed ones. */
  readonly registry: ReadonlyMap<string, RegisteredAgent>
  /** Suspended agents outside the registry, with the reason. */
  readonly suspended: ReadonlyMap<string, string>
  /** The treatment of agents outside the registry. */
  readonly unknownAgents: 'allow' | 'deny'
}

/** Reads the known agents of the organization in the given handle or transaction. */
export type ReadRoster = (
  db: AnyDatabase,
  orgId: string,
  /** Read unless given. */
  settings?: OrganizationSettings,
) => Promise<AgentRules>

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
  async (db, orgId, given) => {
    const settings = given ?? settingsOf(await findOrganizationById(on<CoreTables>(db), orgId))
    const registry = await offered('agentRegistry')?.load(orgId, db)
    return {
      registry: registry ?? NOBODY,
      hasRegistry: registry !== undefined,
      suspended: await readStops(db, orgId),
      unknownAgents: settings.unknown_agents,
      ownCredentialsOnly: settings.require_agent_credentials,
    }
  }

/** Reads the names of the people who own an agent. */
export type ReadOwners = (db: AnyDatabase, orgId: string, agentId: string) => Promise<string[]>

/** The owners of agents from the registry; none without a registry. */
export const ownersReader =
  ({ offered }: Pick<Deps, 'offered'>): ReadOwners =>
  async (db, orgId, agentId) =>
    namesOf((await offered('agentRegistry')?.load(orgId, db))?.get(agentId))

/** Teams do not vote, so only people count. */
export const namesOf = (agent: RegisteredAgent | undefined): string[] =>
  (agent?.owners ?? []).flatMap(({ type, id, email }) =>
    type === 'user' ? [id, ...(email === undefined ? [] : [email])] : [],
  )
