import type { Actor, Framework, ReportSummary } from '@remit/contract'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import { catalogue } from '../catalogue/catalogue.ts'
import type { ReportScope } from '../catalogue/report-scope.ts'
import type { ReportFacts } from '../jobs/jobs.ts'
import type { ReportHead } from '../tables/reports.ts'

/**
 * The data of the entry `report.generated`, from the columns of a report: everything that is served
 * beside the hashed documents. Verification computes it again from the stored row, so a served
 * column must be here. Throws for an unreadable column.
 */
export function recordedFields(row: ReportHead) {
  const { categories, role } = JSON.parse(row.scope) as ReportScope
  const head = JSON.parse(row.head ?? 'null') as ReportFacts['head']
  return {
    report_id: row.id,
    framework: row.framework as Framework,
    from: row.period_from,
    to: row.period_to,
    categories,
    role,
    requested_at: row.requested_at,
    evaluation: row.evaluation === 1,
    content_sha256: row.content_sha256 as string,
    csv_sha256: row.csv_sha256 as string,
    // The end of the ledger as the report found it: a later truncation contradicts this entry.
    checkpoint: { seq: head.size - 1, hash: head.hash },
    ledger_head: head,
    summary: JSON.parse(row.summary ?? 'null') as ReportSummary,
    verified: row.verified === null ? null : row.verified === 1,
  }
}

/** The entry that records a finished report. */
export const generatedEntry = (row: ReportHead): EntryDraft => ({
  kind: 'report.generated',
  actor: JSON.parse(row.requested_by) as Actor,
  data: {
    ...recordedFields(row),
    catalog_sha256: catalogue(row.framework as Framework).sha256,
    ...(row.requested_person !== null && { person: row.requested_person }),
  },
})
