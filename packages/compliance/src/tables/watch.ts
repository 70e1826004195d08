import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type WatchTables = { process_lease: LeaseRow; ledger_watch: LedgerWatchRow }

/**
 * A background job of the installation that one process runs. It belongs to no organization and is
 * found by name.
 */
export type LeaseRow = {
  name: string
  /** The process that holds the lease. */
  holder: string
  /** Milliseconds; afterwards any process may take the lease. */
  expires_at: number
}

/** The state of the watch for a ledger. */
export type LedgerWatchRow = {
  org_id: string
  /** The time of the last heartbeat entry. */
  heartbeat_at: string
}

export const watchMigration: Migration = {
  async up(db) {
    const { text, integer } = column(db)
    await sql`create table process_lease (
      name ${text} primary key, holder ${text} not null, expires_at ${integer} not null)`.execute(
      db,
    )
    await sql`create table ledger_watch (
      org_id ${text} primary key, heartbeat_day ${text} not null)`.execute(db)
  },
}

/**
 * Heartbeats were formerly stored as a UTC day. A day sorts before every time in it, so one is due
 * at once.
 */
export const heartbeatMigration: Migration = {
  async up(db) {
    await sql`alter table ledger_watch rename column heartbeat_day to heartbeat_at`.execute(db)
  },
}
