import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Tables of agent hosts: their decided calls, and what `remit discover` found. */
export type HookTables = { hook_call: HookCallRow; inventory: InventoryRow }

export type HookCallRow = {
  org_id: string
  /** Hash of host, agent, session and call id. */
  call_key: string
  /** Hash of host, agent, session, tool and input. */
  input_key: string
  decision_id: string
  /** `ran` once the host has reported the outcome. */
  decision: 'allow' | 'deny' | 'ran'
  message: string
  created_at: string
}

/** The newest inventory of a host. */
export type InventoryRow = {
  org_id: string
  host: string
  /** JSON. */
  document: string
  reported_at: string
}

export const hookMigration: Migration = {
  async up(db) {
    const { text } = column(db)
    await sql`create table hook_call (
      org_id ${text} not null, call_key ${text} not null, input_key ${text} not null,
      decision_id ${text} not null, decision ${text} not null, message ${text} not null,
      created_at ${text} not null, primary key (org_id, call_key))`.execute(db)
    await sql`create index hook_call_by_input on hook_call (org_id, input_key)`.execute(db)
    await sql`create index hook_call_by_age on hook_call (created_at)`.execute(db)
    await sql`create table inventory (
      org_id ${text} not null, host ${text} not null, document ${text} not null,
      reported_at ${text} not null, primary key (org_id, host))`.execute(db)
  },
}
