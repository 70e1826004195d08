import { eachPart, inPart } from '@remit/core/db'
import type { Part } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { findOrganization } from '@remit/core/orgs'
import { findByAddress, findBySubject } from '../people/store.ts'
import type { Identity } from './provider.ts'
import { isInvited } from './sign-in.ts'
import type { LoginWay } from './ways.ts'

type Db = Deps['db']

/** An organization that an identity could sign in to. */
export interface Candidate {
  readonly id: string
  readonly name: string
}

/** The organizations of an identity, of those that could be read. */
export interface Candidates {
  readonly found: readonly Candidate[]
  /** False if an organization could not be read: it may know the identity. */
  readonly isComplete: boolean
}

/**
 * Finds the organizations that know an identity, or have invited its verified address. With a
 * configured organization, that one alone, also for a person whom only a group makes known.
 */
export async function candidatesOf(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  identity: Identity,
  { organization }: Pick<LoginWay, 'organization'>,
): Promise<Candidates> {
  if (organization !== null) {
    const found = await findOrganization(db, organization)
    return { found: found ? [{ id: found.id, name: found.name }] : [], isComplete: true }
  }
  let isComplete = true
  const parts = await eachPart(
    db,
    (part) => candidatesIn(db, part, identity),
    (error, organizations) => {
      isComplete = false
      log.warn({ err: error, organizations }, 'reading people failed')
    },
  )
  return { found: parts.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1)), isComplete }
}

async function candidatesIn(db: Db, part: Part, identity: Identity): Promise<Candidate[]> {
  const known = await findBySubject(db, part, identity.issuer, identity.subject)
  const invited =
    identity.email === null
      ? []
      : (await findByAddress(db, part, identity.email)).filter((row) =>
          isInvited(row, identity.email),
        )
  const ids = [...new Set([...known, ...invited].map((row) => row.org_id))]
  if (ids.length === 0) return []
  return db
    .selectFrom('organization')
    .select(['id', 'name'])
    .where(inPart(part, 'id'))
    .where('id', 'in', ids)
    .execute()
}
