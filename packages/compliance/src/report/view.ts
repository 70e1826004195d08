import type {
  Actor,
  Framework,
  ReadyReport,
  Report,
  ReportContent,
  ReportListItem,
  ReportSummary,
} from '@remit/contract'
import type { ReportRow } from './schema.ts'
import type { ReportHead } from './store.ts'

/** A finished report as it is kept. */
export interface Stored {
  readonly report: ReadyReport
  /** The bytes of its content, as they were hashed. */
  readonly content: string
  /** The bytes of its controls as CSV, as they were hashed. */
  readonly csv: string
}

const askedOf = ({ id, framework, period_from, period_to }: ReportHead) => ({
  id,
  framework: framework as Framework,
  period: { from: period_from, to: period_to },
})

/** A report that is finished; null for every other one. */
export function storedOf(row: ReportRow): Stored | null {
  const { content, csv, content_sha256, csv_sha256, record_seq, generated_at, head } = row
  if (content === null || csv === null || content_sha256 === null || csv_sha256 === null)
    return null
  if (record_seq === null || generated_at === null || head === null) return null
  const report: ReadyReport = {
    ...askedOf(row),
    status: 'ready',
    generated_at,
    generated_by: JSON.parse(row.requested_by) as Actor,
    evaluation: row.evaluation === 1,
    content_sha256,
    csv_sha256,
    record_seq,
    ledger_head: JSON.parse(head) as ReadyReport['ledger_head'],
    content: JSON.parse(content) as ReportContent,
  }
  return { report, content, csv }
}

/** A report that is not finished. */
export const unfinished = (row: ReportHead): Report =>
  row.status === 'failed'
    ? {
        ...askedOf(row),
        status: 'failed',
        requested_at: row.requested_at,
        detail: row.failure ?? '',
      }
    : { ...askedOf(row), status: 'generating', requested_at: row.requested_at }

export const listItem = (row: ReportHead): ReportListItem => ({
  ...askedOf(row),
  status: row.status,
  requested_at: row.requested_at,
  generated_at: row.generated_at,
  summary: row.summary === null ? null : (JSON.parse(row.summary) as ReportSummary),
  content_sha256: row.content_sha256,
  verified: row.verified === null ? null : row.verified === 1,
})
