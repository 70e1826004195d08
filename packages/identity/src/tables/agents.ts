import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type AgentTables = { agent: AgentRow; agent_subject: AgentSubjectRow }

/** A registered agent. Removed ones remain, since ids are never reused. */
export type AgentRow = {
  org_id: string
  agent_id: string
  name: string | null
  description: string | null
  status: 'active' | 'suspended' | 'removed'
  /** JSON: owners, labels, scopes, issuers. */
  owners: string
  environment: string | null
  labels: string
  allowed_scopes: string
  max_credential_ttl_seconds: number | null
  issuers: string
  spiffe_id: string | null
  agent_card_url: string | null
  created_at: string
  created_by: string
  updated_at: string
  suspended_at: string | null
  suspended_reason: string | null
  removed_at: string | null
  version: number
  /** The config version of the last change, so that changed rows can be read alone. */
  revision: number
}

/** Subjects of trusted issuers with their agent; each belongs to one. */
export type AgentSubjectRow = {
  org_id: string
  idp_id: string
  subject: string
  agent_id: string
}

export const agentMigration: Migration = {
  async up(db) {
    const { text, integer, clustered } = column(db)
    await sql`create table agent (
      org_id ${text} not null, agent_id ${text} not null, name ${text}, description ${text},
      status ${text} not null, owners ${text} not null, environment ${text}, labels ${text} not null,
      allowed_scopes ${text} not null, max_credential_ttl_seconds ${integer}, issuers ${text} not null,
      spiffe_id ${text}, agent_card_url ${text}, created_at ${text} not null, created_by ${text} not null,
      updated_at ${text} not null, suspended_at ${text}, suspended_reason ${text}, removed_at ${text},
      version ${integer} not null, revision ${integer} not null, primary key (org_id, agent_id))`.execute(
      db,
    )
    await sql`create index agent_by_revision on agent (org_id, revision)`.execute(db)
    await sql`create table agent_subject (
      org_id ${text} not null, idp_id ${text} not null, subject ${text} not null, agent_id ${text} not null,
      primary key (org_id, idp_id, subject)) ${clustered}`.execute(db)
    await sql`create index agent_subject_of_agent on agent_subject (org_id, agent_id)`.execute(db)
  },
}
