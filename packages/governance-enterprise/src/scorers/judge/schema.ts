import { column } from '@remit/core'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Tables of this room. */
export type JudgeTables = { judge_verdict: VerdictRow }

/** A verdict that need not be paid for again. */
export type VerdictRow = {
  org_id: string
  cache_key: string
  /** JSON list of picks. */
  verdict: string
  created_at: string
}

export const judgeMigration: Migration = {
  async up(db) {
    const { text } = column(db)
    await sql`create table judge_verdict (
      org_id ${text} not null, cache_key ${text} not null, verdict ${text} not null,
      created_at ${text} not null, primary key (org_id, cache_key))`.execute(db)
    await sql`create index judge_verdict_created on judge_verdict (created_at)`.execute(db)
  },
}
