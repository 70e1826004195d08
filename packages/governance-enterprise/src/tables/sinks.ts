import type { SinkFormat, SinkType } from '@remit/contract'
import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type SinkTables = { sink: SinkRow }

/** A stream of an organization's ledger to another system. */
export type SinkRow = {
  org_id: string
  id: string
  type: SinkType
  format: SinkFormat
  /** JSON list of patterns; null for all kinds. */
  kinds: string | null
  description: string | null
  enabled: number
  /** JSON of the target without its secrets. */
  target: string
  /** Encrypted: see `secrets.ts`. */
  secret: string
  /** The first entry that was neither sent nor left out. */
  next_seq: number
  /** The process that sends, until `held_until`; null if none does. */
  holder: string | null
  /** Milliseconds. */
  held_until: number
  /** Milliseconds; nothing is sent before. */
  retry_at: number
  /** Failures since the last success. */
  failures: number
  error_code: string | null
  error_status: number | null
  error_at: string | null
  sent_at: string | null
  created_at: string
  created_by: string
  updated_at: string
}

export const sinkMigration: Migration = {
  async up(db) {
    const { text, integer } = column(db)
    await sql`create table sink (
      org_id ${text} not null, id ${text} not null, type ${text} not null, format ${text} not null,
      kinds ${text}, description ${text}, enabled ${integer} not null, target ${text} not null,
      secret ${text} not null, next_seq ${integer} not null, holder ${text},
      held_until ${integer} not null, retry_at ${integer} not null, failures ${integer} not null,
      error_code ${text}, error_status ${integer}, error_at ${text}, sent_at ${text},
      created_at ${text} not null, created_by ${text} not null, updated_at ${text} not null,
      primary key (org_id, id))`.execute(db)
  },
}
