import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type IssuerTables = {
  trusted_issuer: TrustedIssuerRow
  issuer_audience: IssuerAudienceRow
  token_use: TokenUseRow
}

/** A trusted issuer with its terms; immutable until removed. */
export type TrustedIssuerRow = {
  org_id: string
  id: string
  issuer: string
  /** JSON: `IssuerTerms`. */
  terms: string
  created_at: string
  created_by: string
  /** The result of the last key fetch. */
  key_count: number
  fetched_at: string | null
  fetch_error: string | null
}

/** The record of each audience of an issuer; one each. */
export type IssuerAudienceRow = { org_id: string; issuer: string; audience: string; idp_id: string }

/** A token that cannot be exchanged again until it is purged. */
export type TokenUseRow = { org_id: string; use_key: string; expires_at: string }

export const issuerMigration: Migration = {
  async up(db) {
    const { text, integer, clustered } = column(db)
    await sql`create table trusted_issuer (
      org_id ${text} not null, id ${text} not null, issuer ${text} not null, terms ${text} not null,
      created_at ${text} not null, created_by ${text} not null, key_count ${integer} not null,
      fetched_at ${text}, fetch_error ${text}, primary key (org_id, id))`.execute(db)
    await sql`create index trusted_issuer_by_issuer on trusted_issuer (org_id, issuer)`.execute(db)
    await sql`create table issuer_audience (
      org_id ${text} not null, issuer ${text} not null, audience ${text} not null,
      idp_id ${text} not null, primary key (org_id, issuer, audience)) ${clustered}`.execute(db)
    await sql`create index issuer_audience_of_anyone on issuer_audience (issuer, audience)`.execute(
      db,
    )
    await sql`create table token_use (
      org_id ${text} not null, use_key ${text} not null, expires_at ${text} not null,
      primary key (org_id, use_key)) ${clustered}`.execute(db)
    await sql`create index token_use_by_end on token_use (org_id, expires_at)`.execute(db)
  },
}
