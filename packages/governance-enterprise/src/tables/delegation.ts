import type { Migration } from 'kysely/migration'
import { sql } from 'kysely'
import { column } from '@remit/core/db'

/**
 * Tables of delegation. `revision` is the config version of the last change of a row, so that
 * changed rows can be read alone.
 */
export type DelegationTables = {
  agent_permission: PermissionRow
  agent_mode: AgentModeRow
}

/** A permission. Revoked ones remain: they are evidence, and their ids are not reused. */
export type PermissionRow = {
  org_id: string
  id: string
  /** The agent; for a denial it may be a pattern. */
  agent_id: string
  effect: 'allow' | 'deny'
  /** JSON lists of patterns. */
  actions: string
  resources: string
  condition: string | null
  /** The parent permission; immutable. */
  parent_id: string | null
  granted_by_type: 'user' | 'key' | 'agent'
  granted_by_id: string
  can_delegate: number
  /** The number of links that may follow in the chain. */
  max_depth: number
  not_before: string | null
  expires_at: string | null
  description: string | null
  created_at: string
  created_by: string
  updated_at: string
  revoked_at: string | null
  revoked_by: string | null
  revision: number
}

/** Agents with a mode; an agent without a row is `open`. */
export type AgentModeRow = {
  org_id: string
  agent_id: string
  mode: 'open' | 'granted'
  changed_at: string
  changed_by: string
  revision: number
}

export const delegationMigration: Migration = {
  async up(db) {
    const { text, integer } = column(db)
    await sql`create table agent_permission (
      org_id ${text} not null, id ${text} not null, agent_id ${text} not null, effect ${text} not null,
      actions ${text} not null, resources ${text} not null, condition ${text}, parent_id ${text},
      granted_by_type ${text} not null, granted_by_id ${text} not null, can_delegate ${integer} not null,
      max_depth ${integer} not null, not_before ${text}, expires_at ${text}, description ${text},
      created_at ${text} not null, created_by ${text} not null, updated_at ${text} not null,
      revoked_at ${text}, revoked_by ${text}, revision ${integer} not null, primary key (org_id, id))`.execute(
      db,
    )
    await sql`create index agent_permission_by_agent on agent_permission (org_id, agent_id)`.execute(
      db,
    )
    await sql`create index agent_permission_by_parent on agent_permission (org_id, parent_id)
      where parent_id is not null`.execute(db)
    await sql`create index agent_permission_by_revision on agent_permission (org_id, revision)`.execute(
      db,
    )
    await sql`create table agent_mode (
      org_id ${text} not null, agent_id ${text} not null, mode ${text} not null,
      changed_at ${text} not null, changed_by ${text} not null,
      revision ${integer} not null, primary key (org_id, agent_id))`.execute(db)
    await sql`create index agent_mode_by_revision on agent_mode (org_id, revision)`.execute(db)
  },
}
