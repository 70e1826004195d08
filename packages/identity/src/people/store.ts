import { inPart, on, orgTable } from '@remit/core/db'
import type { AnyDatabase, Part } from '@remit/core/db'
import type { PersonRow } from '../tables/people.ts'
import type { Tables } from '../tables/schema.ts'

/** Ids sort by creation, and so does the list. */
const people = orgTable<Tables, 'person'>('person', 'id')

export const { find: findPerson, list: listPeople, count: countPeople } = people

/** A person who has not signed in, with one address. */
export const newPerson = (
  given: Pick<PersonRow, 'org_id' | 'id' | 'email' | 'name' | 'role' | 'created_at' | 'created_by'>,
): PersonRow => ({
  ...given,
  addresses: JSON.stringify([foldAddress(given.email)]),
  status: 'invited',
  issuer: null,
  subject: null,
  last_login_at: null,
})

export async function insertPerson(db: AnyDatabase, row: PersonRow): Promise<void> {
  await people.insert(db, row)
  await addAddresses(db, row)
}

export async function updatePerson(db: AnyDatabase, row: PersonRow): Promise<void> {
  await people.update(db, row)
  await addAddresses(db, row)
}

export async function removePerson(
  db: AnyDatabase,
  orgId: string,
  id: string,
): Promise<PersonRow | undefined> {
  const removed = await people.remove(db, orgId, id)
  if (!removed) return undefined
  await on<Tables>(db)
    .deleteFrom('person_address')
    .where('address', 'in', addressesOf(removed))
    .where('org_id', '=', orgId)
    .where('person_id', '=', id)
    .execute()
  return removed
}

/** A person never loses an address. */
async function addAddresses(db: AnyDatabase, row: PersonRow): Promise<void> {
  const { org_id, id: person_id } = row
  const rows = addressesOf(row).map((address) => ({ address, org_id, person_id }))
  if (rows.length === 0) return
  await on<Tables>(db)
    .insertInto('person_address')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** E-mail addresses are compared without case. */
export const foldAddress = (email: string): string => email.normalize('NFC').toLowerCase()

export const addressesOf = ({ addresses }: Pick<PersonRow, 'addresses'>): string[] =>
  JSON.parse(addresses) as string[]

/** Returns the people of a part with an address, now or formerly. */
export const findByAddress = (db: AnyDatabase, part: Part, email: string): Promise<PersonRow[]> =>
  on<Tables>(db)
    .selectFrom('person_address as known')
    .innerJoin('person', (join) =>
      join.onRef('person.org_id', '=', 'known.org_id').onRef('person.id', '=', 'known.person_id'),
    )
    .selectAll('person')
    .where(inPart(part, 'known.org_id'))
    .where('known.address', '=', foldAddress(email))
    .orderBy('person.org_id')
    .orderBy('person.id')
    .execute()

/** Active people of an organization with a role that decides about approvals. */
export const listDeciders = (db: AnyDatabase, orgId: string): Promise<PersonRow[]> =>
  on<Tables>(db)
    .selectFrom('person')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('status', '=', 'active')
    .where('role', 'in', ['admin', 'approver'])
    .orderBy('id')
    .limit(1000)
    .execute()

/** Returns the people of a part with this identity; one of each organization. */
export const findBySubject = (
  db: AnyDatabase,
  part: Part,
  issuer: string,
  subject: string,
): Promise<PersonRow[]> =>
  on<Tables>(db)
    .selectFrom('person')
    .selectAll()
    .where(inPart(part))
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .orderBy('org_id')
    .execute()

/** Returns true if another active person is an administrator. */
export async function hasOtherAdminPerson(
  db: AnyDatabase,
  orgId: string,
  id: string,
): Promise<boolean> {
  const where = { role: 'admin', status: 'active' } as const
  return (await people.list(db, orgId, { where, limit: 2 })).some((admin) => admin.id !== id)
}
