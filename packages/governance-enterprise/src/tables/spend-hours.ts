import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The totals of a UTC day at the end of one of its hours (`2026-11-20T08`), for charts only. */
export type SpendHourRow = {
  org_id: string
  agent_id: string
  hour: string
  spent_micro: number
  held_micro: number
}

export const spendHourMigration: Migration = {
  async up(db) {
    const { text, integer, clustered } = column(db)
    await sql`create table spend_hour (
      org_id ${text} not null, agent_id ${text} not null, hour ${text} not null,
      spent_micro ${integer} not null, held_micro ${integer} not null,
      primary key (org_id, agent_id, hour)) ${clustered}`.execute(db)
    await sql`create index spend_hour_by_age on spend_hour (hour)`.execute(db)
  },
}
