import { ReportSummary } from '@remit/contract'
import type { Framework, Report, ReportListItem } from '@remit/contract'
import { jsonIn } from './stored.ts'
import type { ReportHead } from '../tables/reports.ts'

const askedOf = ({ id, framework, period_from, period_to }: ReportHead) => ({
  id,
  framework: framework as Framework,
  period: { from: period_from, to: period_to },
})

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
  // One modified row must not hide the others.
  summary: ReportSummary.safeParse(jsonIn(row.summary)).data ?? null,
  content_sha256: row.content_sha256,
  verified: row.verified === null ? null : row.verified === 1,
})
