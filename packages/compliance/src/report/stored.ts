import { hash } from 'node:crypto'
import { ReadyReport } from '@remit/contract'
import { canonicalJson, fail } from '@remit/core'
import type { ReportRow } from '../tables/reports.ts'

/** A finished report as it is kept. */
export interface Stored {
  readonly report: ReadyReport
  /** The bytes of its content, as they were hashed. */
  readonly content: string
  /** The bytes of its controls as CSV, as they were hashed. */
  readonly csv: string
}

/**
 * A report that is finished; null for every other one. Refuses what is no report any more or has other
 * hashes than it names; whether the rest is as it was recorded is for verification to say.
 */
export function storedOf(row: ReportRow): Stored | null {
  if (row.status !== 'ready') return null
  const { content, csv } = row
  const report = reportIn(row)
  if (!report || typeof content !== 'string' || typeof csv !== 'string')
    throw fail('report_changed')
  const isSealed =
    textOf(report) === content &&
    hash('sha256', content, 'hex') === report.content_sha256 &&
    hash('sha256', csv, 'hex') === report.csv_sha256
  if (!isSealed) throw fail('report_changed')
  return { report, content, csv }
}

/** The document that a row holds; null where it holds none. */
function reportIn(row: ReportRow): ReadyReport | null {
  const { id, framework, generated_at, content_sha256, csv_sha256, record_seq } = row
  const document = {
    id,
    framework,
    period: { from: row.period_from, to: row.period_to },
    status: 'ready',
    generated_at,
    generated_by: jsonIn(row.requested_by),
    generated_by_person: row.requested_person,
    evaluation: row.evaluation === 1,
    content_sha256,
    csv_sha256,
    record_seq,
    ledger_head: jsonIn(row.head),
    content: jsonIn(row.content),
  }
  return ReadyReport.safeParse(document).success ? (document as ReadyReport) : null
}

/** The canonical text of the content; null for JSON that has none. */
function textOf({ content }: ReadyReport): string | null {
  try {
    return canonicalJson(content)
  } catch {
    return null
  }
}

/** What a column says; undefined where it cannot be read. */
export function jsonIn(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return undefined
  }
}
