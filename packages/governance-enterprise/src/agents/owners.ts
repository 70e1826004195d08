import type { AnyDatabase } from '@remit/core/db'
import type { Deps, RegisteredAgent } from '@remit/core/module'

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
