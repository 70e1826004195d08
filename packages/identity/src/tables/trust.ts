import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type TrustTables = { trust_policy: TrustPolicyRow }

/** Lists are JSON text. A policy is immutable. */
export type TrustPolicyRow = {
  org_id: string
  id: string
  description: string | null
  effect: 'allow' | 'deny'
  source_agents: string
  target_agents: string
  actions: string
  condition: string | null
  enabled: number
  expires_at: string | null
  created_at: string
  created_by: string
}

export const trustMigration: Migration = {
  async up(db) {
    const { text, integer } = column(db)
    await sql`create table trust_policy (
      org_id ${text} not null, id ${text} not null, description ${text}, effect ${text} not null,
      source_agents ${text} not null, target_agents ${text} not null, actions ${text} not null,
      condition ${text}, enabled ${integer} not null, expires_at ${text}, created_at ${text} not null,
      created_by ${text} not null, primary key (org_id, id))`.execute(db)
  },
}
