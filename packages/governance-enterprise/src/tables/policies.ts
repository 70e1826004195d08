import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { column } from '@remit/core/db'

/** Lists are JSON text, times RFC 3339, flags 0 and 1. The id never changes. */
export type PolicyRuleRow = {
  org_id: string
  id: string
  effect: 'allow' | 'deny'
  agents: string
  actions: string
  resources: string
  condition: string | null
  description: string | null
  /** Enforced; `observed`: in the mode `observe`. A rule with neither is disabled. */
  enabled: number
  observed: number
  /** Evaluated for every request of the organization. */
  broad: number
  not_before: string | null
  expires_at: string | null
  created_at: string
  created_by: string
  /** Null for a rule that never changed. */
  updated_at: string | null
  /** The number of versions, from 1. */
  revision: number
}

export type PolicyTables = {
  policy_rule: PolicyRuleRow
  policy_revision: PolicyRevisionRow
}

/** The state of an organization's rules; every change creates another. */
export type PolicyRevisionRow = { org_id: string; revision: string }

export const policyMigration: Migration = {
  async up(db) {
    const { text, integer } = column(db)
    await sql`create table policy_rule (
      org_id ${text} not null, id ${text} not null, effect ${text} not null, agents ${text} not null,
      actions ${text} not null, resources ${text} not null, condition ${text}, description ${text},
      enabled ${integer} not null, broad ${integer} not null, not_before ${text}, expires_at ${text},
      created_at ${text} not null, created_by ${text} not null, primary key (org_id, id))`.execute(
      db,
    )
    await sql`create index policy_rule_broad on policy_rule (org_id) where broad = 1`.execute(db)
    await sql`create table policy_revision (
      org_id ${text} not null primary key, revision ${text} not null)`.execute(db)
  },
}

/** Rules can be replaced, and each version has a number. */
export const policyVersionMigration: Migration = {
  async up(db) {
    const { text, integer } = column(db)
    await sql`alter table policy_rule add column updated_at ${text}`.execute(db)
    await sql`alter table policy_rule add column revision ${integer} not null default 1`.execute(db)
  },
}

/** Rules can be observed. A release that does not know this mode sees them as disabled. */
export const observedRuleMigration: Migration = {
  async up(db) {
    const { integer } = column(db)
    for (const table of ['policy_rule', 'approval_rule'])
      await sql`alter table ${sql.table(table)} add column observed ${integer} not null default 0`.execute(
        db,
      )
  },
}
