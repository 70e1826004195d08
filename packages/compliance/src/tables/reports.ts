import { column } from '@remit/core/db'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export type ReportTables = { compliance_report: ReportRow }

/** A report: requested, then generated. A finished one never changes. */
export type ReportRow = {
  org_id: string
  id: string
  status: 'generating' | 'ready' | 'failed'
  framework: string
  period_from: string
  period_to: string
  /** JSON of `Scope`: the reported part of the framework. */
  scope: string
  requested_at: string
  /** JSON of the requesting actor, and the person of its key. */
  requested_by: string
  requested_person: string | null
  /** The `Idempotency-Key` of the request and the hash of the request; null without one. */
  claim_key: string | null
  claim_hash: string | null
  /**
   * The end of the generating process's lease, in milliseconds; afterwards another process may take
   * over.
   */
  held_until: number | null
  /** The number of attempts. */
  attempts: number
  /** The reason of the failure, for a failed report. */
  failure: string | null
  generated_at: string | null
  /** Canonical JSON of the content, and the CSV of its controls: the hashed bytes. */
  content: string | null
  csv: string | null
  content_sha256: string | null
  csv_sha256: string | null
  /** The entry `report.generated`. */
  record_seq: number | null
  /** JSON of the ledger's head when the report was generated. */
  head: string | null
  /** JSON of the content's summary, and whether the ledger verified up to the end of the period. */
  summary: string | null
  verified: number | null
  /** 1: requested from a server in evaluation. */
  evaluation: number
}

/** A report without its documents, for lists. */
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
