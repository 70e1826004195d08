import type { PersonRole } from '@remit/contract'
import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

export type PeopleTables = { person: PersonRow; person_address: PersonAddressRow }

/** An address that a person has or had, folded: for look-ups by address. */
export type PersonAddressRow = { address: string; org_id: string; person_id: string }

export type PersonRow = {
  org_id: string
  id: string
  /** The last verified address, or that of the invitation. */
  email: string
  /** JSON list of every address that this person had, folded, the current one first. */
  addresses: string
  name: string | null
  role: PersonRole
  status: 'invited' | 'active' | 'disabled'
  /** Together they identify the person; null until the first sign-in. */
  issuer: string | null
  subject: string | null
  created_at: string
  created_by: string
  last_login_at: string | null
}

export const peopleMigration: Migration = {
  async up(db) {
    const { text } = column(db)
    await sql`create table person (
      org_id ${text} not null, id ${text} not null, email ${text} not null, addresses ${text} not null,
      name ${text}, role ${text} not null, status ${text} not null, issuer ${text}, subject ${text},
      created_at ${text} not null, created_by ${text} not null, last_login_at ${text},
      primary key (org_id, id))`.execute(db)
    await sql`create unique index person_by_subject on person (issuer, subject, org_id)
      where subject is not null`.execute(db)
  },
}

export const personAddressMigration: Migration = {
  async up(db: Kysely<PeopleTables>) {
    const { text, clustered } = column(db)
    await sql`create table person_address (
      address ${text} not null, org_id ${text} not null, person_id ${text} not null,
      primary key (address, org_id, person_id)) ${clustered}`.execute(db)
    const people = await db.selectFrom('person').select(['org_id', 'id', 'addresses']).execute()
    for (const { org_id, id, addresses } of people)
      for (const address of JSON.parse(addresses) as string[])
        await db.insertInto('person_address').values({ address, org_id, person_id: id }).execute()
  },
}
