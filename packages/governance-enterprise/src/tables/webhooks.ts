import type { WebhookFormat } from '@remit/contract'
import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type WebhookTables = { webhook: WebhookRow; webhook_delivery: DeliveryRow }

export type WebhookRow = {
  org_id: string
  id: string
  /** Without what `secret` has: the query, or for chats also the path. */
  url: string
  /** JSON list of event names. */
  events: string
  description: string | null
  enabled: number
  disabled_reason: string | null
  /** null: `standard`, as before there were formats. */
  format: WebhookFormat | null
  /** Encrypted: see `secrets.ts`. */
  secret: string
  created_at: string
  created_by: string
  updated_at: string
}

/** One message for one webhook. Its content is read from the ledger when it is sent. */
export type DeliveryRow = {
  org_id: string
  webhook_id: string
  /** The entry of the message. */
  seq: number
  event: string
  state: 'waiting' | 'delivered' | 'failed'
  /**
   * The number of attempts. Each has its own number, so that a late result cannot overwrite a newer
   * one.
   */
  attempts: number
  created_at: string
  /** The time of the next attempt; during one, the end of its lease. */
  due_at: string
  attempted_at: string | null
  /** The time at which it was delivered or failed permanently. */
  finished_at: string | null
  http_status: number | null
  error: string | null
  /** JSON list of the last attempts; null before the first one ended. */
  history: string | null
}

export const webhookMigration: Migration = {
  async up(db) {
    const { text, integer, clustered } = column(db)
    await sql`create table webhook (
      org_id ${text} not null, id ${text} not null, url ${text} not null, events ${text} not null,
      description ${text}, enabled ${integer} not null, disabled_reason ${text}, secret ${text} not null,
      created_at ${text} not null, created_by ${text} not null, updated_at ${text} not null,
      primary key (org_id, id))`.execute(db)
    await sql`create table webhook_delivery (
      org_id ${text} not null, webhook_id ${text} not null, seq ${integer} not null, event ${text} not null,
      state ${text} not null, attempts ${integer} not null, created_at ${text} not null,
      due_at ${text} not null, attempted_at ${text}, finished_at ${text}, http_status ${integer},
      error ${text}, primary key (org_id, webhook_id, seq)) ${clustered}`.execute(db)
    await sql`create index webhook_delivery_due on webhook_delivery (due_at) where state = 'waiting'`.execute(
      db,
    )
    await sql`create index webhook_delivery_waiting on webhook_delivery (org_id, webhook_id)
      where state = 'waiting'`.execute(db)
    await sql`create index webhook_delivery_attempted on webhook_delivery (org_id, webhook_id, attempted_at)
      where attempted_at is not null`.execute(db)
    await sql`create index webhook_delivery_finished on webhook_delivery (finished_at)
      where finished_at is not null`.execute(db)
  },
}

/** Each attempt of a delivery is kept, for the operator of the receiver. */
export const webhookHistoryMigration: Migration = {
  async up(db) {
    const { text } = column(db)
    await sql`alter table webhook_delivery add column history ${text}`.execute(db)
  },
}

/** Messages for people. */
export const webhookFormatMigration: Migration = {
  async up(db) {
    const { text } = column(db)
    await sql`alter table webhook add column format ${text}`.execute(db)
  },
}
