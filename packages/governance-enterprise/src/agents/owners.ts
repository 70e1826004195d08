import type { AnyDatabase, Deps, RegisteredAgent } from '@remit/core'

/** By which names people own an agent. */
export type ReadOwners = (db: AnyDatabase, orgId: string, agentId: string) => Promise<string[]>

/** The owners of agents as the registry has them; without a registry nobody owns any. */
export const ownersReader =
  ({ offered }: Pick<Deps, 'offered'>): ReadOwners =>
  async (db, orgId, agentId) =>
    namesOf((await offered('agentRegistry')?.load(orgId, db))?.get(agentId))

/** Teams have no vote, so only people count. */
export const namesOf = (agent: RegisteredAgent | undefined): string[] =>
  (agent?.owners ?? []).flatMap(({ type, id, email }) =>
    type === 'user' ? [id, ...(email === undefined ? [] : [email])] : [],
  )
