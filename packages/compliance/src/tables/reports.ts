import { column } from '@remit/core'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type ReportTables = { compliance_report: ReportRow }

/** A report: asked for, then generated. What a ready one holds is never changed. */
export type ReportRow = {
  org_id: string
  id: string
  status: 'generating' | 'ready' | 'failed'
  framework: string
  period_from: string
  period_to: string
  /** JSON of `Scope`: what of the framework is reported on. */
  scope: string
  requested_at: string
  /** JSON of the actor that asked, and the person that its key names. */
  requested_by: string
  requested_person: string | null
  /** The `Idempotency-Key` that it was asked for with and the hash of that request; null for none. */
  claim_key: string | null
  claim_hash: string | null
  /** Until when the process that generates it vouches that it does, in milliseconds; then another may. */
  held_until: number | null
  /** How often it was begun. */
  attempts: number
  /** Why it could not be generated, where it failed. */
  failure: string | null
  generated_at: string | null
  /** Canonical JSON of the document's content, and the CSV of its controls: the bytes that are hashed. */
  content: string | null
  csv: string | null
  content_sha256: string | null
  csv_sha256: string | null
  /** The entry `report.generated`. */
  record_seq: number | null
  /** JSON of the ledger's head as it was found when the report was generated. */
  head: string | null
  /** JSON of the content's summary, and whether the ledger verified up to the period's end. */
  summary: string | null
  verified: number | null
  /** 1: asked of a server that runs for evaluation. */
  evaluation: number
}

/** A report in the list: without its documents. */
export type ReportHead = Omit<ReportRow, 'content' | 'csv'>

export const reportMigration: Migration = {
  async up(db) {
    const { text, integer } = column(db)
    await sql`create table compliance_report (
      org_id ${text} not null, id ${text} not null, status ${text} not null, framework ${text} not null,
      period_from ${text} not null, period_to ${text} not null, scope ${text} not null,
      requested_at ${text} not null, requested_by ${text} not null,
      requested_person ${text}, claim_key ${text}, claim_hash ${text}, held_until ${integer},
      attempts ${integer} not null, failure ${text}, generated_at ${text}, content ${text}, csv ${text},
      content_sha256 ${text}, csv_sha256 ${text}, record_seq ${integer}, head ${text}, summary ${text},
      verified ${integer}, primary key (org_id, id))`.execute(db)
    await sql`create unique index compliance_report_by_claim on compliance_report (org_id, claim_key)
      where claim_key is not null`.execute(db)
    await sql`create index compliance_report_unfinished on compliance_report (held_until)
      where status = 'generating'`.execute(db)
  },
}

export const evaluationMigration: Migration = {
  async up(db) {
    const { integer } = column(db)
    await sql`alter table compliance_report add column evaluation ${integer} not null default 0`.execute(
      db,
    )
  },
}
