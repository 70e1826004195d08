import type { AnyDatabase } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { ownersReader } from '../agents/agents.ts'
import type { ReadOwners } from '../agents/agents.ts'
import type { FindNames } from './vote.ts'

/** Reads what decides whose vote counts. */
export interface People {
  readonly owners: ReadOwners
  finder(db: AnyDatabase, orgId: string): FindNames
}

/** The people of the registries; without a registry of people, each name is a person. */
export const peopleOf = (deps: Pick<Deps, 'offered'>): People => ({
  owners: ownersReader(deps),
  finder: (db, orgId) => async (name) =>
    (await deps.offered('people')?.namesOf(db, orgId, name)) ?? null,
})
