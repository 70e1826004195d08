import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type JudgeTables = { judge_verdict: VerdictRow; judge_day: JudgeDayRow }

export type VerdictRow = {
  org_id: string
  cache_key: string
  /** JSON list of choices. */
  verdict: string
  created_at: string
}

/** Judge calls of an organization on a UTC day (`2026-11-20`), with their actual or maximum cost. */
export type JudgeDayRow = {
  org_id: string
  day: string
  calls: number
  cost_micro: number
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

export const judgeDayMigration: Migration = {
  async up(db) {
    const { text, integer } = column(db)
    await sql`create table judge_day (
      org_id ${text} not null, day ${text} not null, calls ${integer} not null,
      cost_micro ${integer} not null, primary key (org_id, day))`.execute(db)
  },
}
