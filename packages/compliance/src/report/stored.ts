import { hash } from 'node:crypto'
import { ReadyReport } from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import { fail } from '@remit/core/base'
import type { ReportRow } from '../tables/reports.ts'

/** A finished report as stored. */
export interface StoredReport {
  readonly report: ReadyReport
  /** The hashed bytes of its content. */
  readonly content: string
  /** The hashed bytes of its controls as CSV. */
  readonly csv: string
}

/**
 * A finished report; null for every other one. Refuses rows that are not a report or do not match
 * their hashes; the verification checks the rest.
 */
export function storedOf(row: ReportRow): StoredReport | null {
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

/** The document of a row; null if it has none. */
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

/** The canonical text of the content; null if it has none. */
function textOf({ content }: ReadyReport): string | null {
  try {
    return canonicalJson(content)
  } catch {
    return null
  }
}

/** Parses a column; undefined if it is invalid. */
export function jsonIn(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return undefined
  }
}
