import type { Migration } from 'kysely/migration'
import { sql } from 'kysely'
import { column } from '@remit/core'

/**
 * What this room adds to the module's tables. `revision` is the version of the configuration that the
 * row's last change found, so that what changed since can be read alone.
 */
export type DelegationTables = {
  agent_permission: PermissionRow
  agent_mode: AgentModeRow
}

/** A permission. Revoked ones stay: they are evidence, and their ids are not given again. */
export type PermissionRow = {
  org_id: string
  id: string
  /** The agent; of a deny it may be a pattern. */
  agent_id: string
  effect: 'allow' | 'deny'
  /** JSON lists of patterns. */
  actions: string
  resources: string
  condition: string | null
  /** The permission that this one was cut from; never changes. */
  parent_id: string | null
  granted_by_type: 'user' | 'key' | 'agent'
  granted_by_id: string
  can_delegate: number
  /** Links that may follow in the chain. */
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

/** Agents whose mode was ever set; without a row an agent is open. */
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
