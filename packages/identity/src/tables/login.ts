import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type LoginTables = { login_provider: LoginProviderRow; login_domain: LoginDomainRow }

/** The OpenID provider of an organization. */
export type LoginProviderRow = {
  org_id: string
  /** New with every change, so that a sign-in finishes under the terms that it began with. */
  id: string
  issuer: string
  client_id: string
  /** Encrypted; null for a public client. */
  secret: string | null
  scopes: string
  role_claim: string
  /** JSON list of `{group, role}`. */
  role_map: string
  created_at: string
  updated_at: string
  updated_by: string
}

/** A domain whose addresses the provider of an organization may vouch for. */
export type LoginDomainRow = {
  org_id: string
  domain: string
  /** 1 if the TXT record of the domain named the organization. */
  verified: number
}

export const loginMigration: Migration = {
  async up(db) {
    const { text, integer, clustered } = column(db)
    await sql`create table login_provider (
      org_id ${text} primary key, id ${text} not null, issuer ${text} not null, client_id ${text} not null,
      secret ${text}, scopes ${text} not null, role_claim ${text} not null, role_map ${text} not null,
      created_at ${text} not null, updated_at ${text} not null, updated_by ${text} not null)`.execute(
      db,
    )
    await sql`create table login_domain (
      org_id ${text} not null, domain ${text} not null, verified ${integer} not null,
      primary key (org_id, domain)) ${clustered}`.execute(db)
    await sql`create index login_domain_by_name on login_domain (domain) where verified = 1`.execute(
      db,
    )
  },
}
