import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type StatTables = { stat_bucket: StatBucketRow; stat_progress: StatProgressRow }

/** Decisions of a minute (`2026-11-20T08:05`) or hour (`2026-11-20T08`) with one value of a fact. */
export type StatBucketRow = {
  org_id: string
  size: 'minute' | 'hour'
  /** The fact: `decision`, `agent` … */
  dimension: string
  bucket: string
  key: string
  count: number
  /** The amounts of allowed decisions. */
  micro: number
}

/** The first entry of a ledger that is not counted yet. */
export type StatProgressRow = { org_id: string; next_seq: number }

export const statMigration: Migration = {
  async up(db) {
    const { text, integer, clustered } = column(db)
    await sql`create table stat_bucket (
      org_id ${text} not null, size ${text} not null, dimension ${text} not null, bucket ${text} not null,
      key ${text} not null, count ${integer} not null, micro ${integer} not null,
      primary key (org_id, size, dimension, bucket, key)) ${clustered}`.execute(db)
    await sql`create table stat_progress (
      org_id ${text} primary key, next_seq ${integer} not null)`.execute(db)
  },
}
