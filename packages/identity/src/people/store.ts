import { on, orgTable } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import type { PersonRow } from '../tables/people.ts'
import type { Tables } from '../tables/schema.ts'

/** Ids sort by creation, and so does the list. */
const people = orgTable<Tables, 'person'>('person', 'id')

export const {
  find: findPerson,
  list: listPeople,
  count: countPeople,
  insert: insertPerson,
  update: updatePerson,
  remove: removePerson,
} = people

/** E-mail addresses are compared without case. */
export const foldAddress = (email: string): string => email.normalize('NFC').toLowerCase()

export const addressesOf = ({ addresses }: Pick<PersonRow, 'addresses'>): string[] =>
  JSON.parse(addresses) as string[]

/** Returns the people with an address, now or formerly; of one organization, or of all. */
export async function findByAddress(
  db: AnyDatabase,
  email: string,
  orgId?: string,
): Promise<PersonRow[]> {
  const folded = foldAddress(email)
  let query = on<Tables>(db)
    .selectFrom('person')
    .selectAll()
    .where('addresses', 'like', `%${likeText(JSON.stringify(folded))}%`)
    .orderBy('org_id')
    .orderBy('id')
  if (orgId !== undefined) query = query.where('org_id', '=', orgId)
  const rows = await query.execute()
  // `like` ignores case in SQLite and knows wildcards.
  return rows.filter((row) => addressesOf(row).includes(folded))
}

/** An underscore stands for any character, which is harmless; a backslash escapes on PostgreSQL. */
const likeText = (text: string): string => text.replaceAll('\\', '_')

export const findBySubject = (
  db: AnyDatabase,
  issuer: string,
  subject: string,
): Promise<PersonRow[]> =>
  on<Tables>(db)
    .selectFrom('person')
    .selectAll()
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
  const found = await on<Tables>(db)
    .selectFrom('person')
    .select('id')
    .where('org_id', '=', orgId)
    .where('id', '<>', id)
    .where('role', '=', 'admin')
    .where('status', '=', 'active')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
