import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type UsageTables = { usage_hour: UsageHourRow; usage_progress: UsageProgressRow }

/** The count of a meter in the entries of an hour. Rows never change, but for `sent`. */
export type UsageHourRow = {
  org_id: string
  /** `2026-11-20T08`. */
  hour: string
  meter: string
  /** The last counted entry: entries of clocks that are late make another row of the hour. */
  to_seq: number
  from_seq: number
  quantity: number
  /** 1 after the sink has accepted it. */
  sent: number
}

/** The first entry of a ledger whose usage is not counted yet. */
export type UsageProgressRow = { org_id: string; next_seq: number }

export const usageMigration: Migration = {
  async up(db) {
    const { text, integer, clustered } = column(db)
    await sql`create table usage_hour (
      org_id ${text} not null, hour ${text} not null, meter ${text} not null, to_seq ${integer} not null,
      from_seq ${integer} not null, quantity ${integer} not null, sent ${integer} not null,
      primary key (org_id, hour, meter, to_seq)) ${clustered}`.execute(db)
    await sql`create index usage_hour_to_send on usage_hour (org_id, hour) where sent = 0`.execute(
      db,
    )
    await sql`create table usage_progress (
      org_id ${text} primary key, next_seq ${integer} not null)`.execute(db)
  },
}
