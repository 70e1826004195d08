import { column } from '@remit/core'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type WatchTables = { process_lease: LeaseRow; ledger_watch: LedgerWatchRow }

/** Work of the installation that one of its processes does. Not of an organization, so found by name. */
export type LeaseRow = {
  name: string
  /** The process that has it. */
  holder: string
  /** Milliseconds; from then on any process may take it. */
  expires_at: number
}

/** What the watch has done for a ledger. */
export type LedgerWatchRow = {
  org_id: string
  /** The time of the last heartbeat, as its entry has it. */
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

/** The last heartbeat was known by its UTC day. A day is less than every time in it: one is due at once. */
export const heartbeatMigration: Migration = {
  async up(db) {
    await sql`alter table ledger_watch rename column heartbeat_day to heartbeat_at`.execute(db)
  },
}
