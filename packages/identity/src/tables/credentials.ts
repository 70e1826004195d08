import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type CredentialTables = { agent_credential: CredentialRow; credential_use: CredentialUseRow }

/** The credential of an agent. Rows are never deleted: they are evidence. */
export type CredentialRow = {
  /** `cred_` and the public part of the text. */
  id: string
  org_id: string
  agent_id: string
  /** The start of the text: `rmc_` or `rmf_`. */
  prefix: 'rmc_' | 'rmf_'
  /** Hex; `hash_scheme` determines how it was made. */
  hash: string
  hash_scheme: string
  /** JSON list. */
  scopes: string
  name: string | null
  source: 'issued' | 'exchange'
  /** For an exchange: the trusted issuer, and the token's subject. */
  idp_id: string | null
  subject: string | null
  issued_by: string
  created_at: string
  expires_at: string
  rotated_from: string | null
  revoked_at: string | null
  revoked_by: string | null
  /** The time of the last recorded use after its end. */
  refused_at: string | null
}

/**
 * The last use of credentials, to the minute. A separate table: it is written constantly and must
 * not block transactions that lock credentials.
 */
export type CredentialUseRow = { id: string; org_id: string; used_at: string }

export const credentialMigration: Migration = {
  async up(db) {
    const { text, clustered } = column(db)
    await sql`create table agent_credential (
      id ${text} primary key, org_id ${text} not null, agent_id ${text} not null, prefix ${text} not null,
      hash ${text} not null, hash_scheme ${text} not null, scopes ${text} not null, name ${text},
      source ${text} not null, idp_id ${text}, subject ${text}, issued_by ${text} not null,
      created_at ${text} not null, expires_at ${text} not null, rotated_from ${text}, revoked_at ${text},
      revoked_by ${text}, refused_at ${text})`.execute(db)
    await sql`create index agent_credential_of_agent on agent_credential (org_id, agent_id, created_at)`.execute(
      db,
    )
    await sql`create index agent_credential_live on agent_credential (org_id, expires_at)
      where revoked_at is null`.execute(db)
    await sql`create index agent_credential_by_age on agent_credential (org_id, created_at)`.execute(
      db,
    )
    await sql`create index agent_credential_of_issuer on agent_credential (org_id, idp_id)
      where idp_id is not null and revoked_at is null`.execute(db)
    await sql`create table credential_use (
      id ${text} primary key, used_at ${text} not null) ${clustered}`.execute(db)
  },
}

/** On a cluster, the organization places the row beside the credential. */
export const useOfOrganizationMigration: Migration = {
  async up(db) {
    await sql`alter table credential_use add column org_id ${column(db).text} not null default ''`.execute(
      db,
    )
    await sql`update credential_use set org_id = coalesce((
      select c.org_id from agent_credential c where c.id = credential_use.id), '')`.execute(db)
  },
}
