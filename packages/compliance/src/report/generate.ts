import { hash } from 'node:crypto'
import type { Framework, ReportPeriod } from '@remit/contract'
import { invalid } from '@remit/core/base'
import { on } from '@remit/core/db'
import type { Change, LedgerScope } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import { catalogue } from '../catalogue/catalogue.ts'
import type { ReportScope } from '../catalogue/report-scope.ts'
import { reportQueryOf } from '../facts/index.ts'
import type { FactsQuery } from '../facts/index.ts'
import type { Tables } from '../tables/schema.ts'
import type { Jobs, ReportFacts } from '../jobs/jobs.ts'
import { csvOf } from './csv/csv.ts'
import { contentOf, sealed } from './document.ts'
import { generatedEntry } from '../verify/report-record.ts'
import type { ReportHead, ReportRow } from '../tables/reports.ts'

type Documents = Pick<
  ReportRow,
  'content' | 'csv' | 'content_sha256' | 'csv_sha256' | 'head' | 'summary' | 'verified'
>

// Between reading and recording, an entry of the period can only appear if clocks disagree.
const MAX_READINGS = 3

/** The facts to read for a report. */
export const reportQueryFor = (orgId: string, { from, to }: ReportPeriod): FactsQuery =>
  reportQueryOf({ orgId, from: Date.parse(from), to: Date.parse(to) })

/**
 * Reads the facts, writes the documents and records the report. The report and its entry
 * `report.generated` are stored in one transaction.
 */
export async function generate(
  { writer }: Pick<Deps, 'writer'>,
  jobs: Jobs,
  row: ReportHead,
  signal: AbortSignal,
): Promise<void> {
  const question = reportQueryFor(row.org_id, { from: row.period_from, to: row.period_to })
  for (let reading = 1; reading <= MAX_READINGS; reading++) {
    const facts = await jobs.report(row.org_id, question, { signal })
    const documents = documentsOf(row, facts)
    const finish: Change<boolean> = async (scope) => {
      if (!(await isStillWhole(scope, row, facts.head.size)))
        return { entries: [], reply: () => false }
      // Another process may have finished or abandoned the report.
      const isMine = await record(scope, row, documents)
      const entries = isMine ? [generatedEntry({ ...row, ...documents })] : []
      return { entries, reply: () => true }
    }
    if (await writer.work(row.org_id, OPERATOR, finish, { evenIfForged: true })) return
  }
  throw invalid(
    'to',
    'is too recent: entries of the period are still being written; retry, or use an earlier time',
  )
}

function documentsOf(row: ReportHead, { facts, head }: ReportFacts): Documents {
  const scope = JSON.parse(row.scope) as ReportScope
  const content = contentOf(catalogue(row.framework as Framework), scope, facts)
  const { text, sha256 } = sealed(content)
  const csv = csvOf({ content, sha256 })
  return {
    content: text,
    csv,
    content_sha256: sha256,
    csv_sha256: hash('sha256', csv, 'hex'),
    head: JSON.stringify(head),
    summary: JSON.stringify(content.summary),
    verified: content.ledger.verified ? 1 : 0,
  }
}

/** Returns whether the period is over and has no entry after those that were read. */
async function isStillWhole(scope: LedgerScope, row: ReportHead, size: number): Promise<boolean> {
  if (scope.recordedAt < row.period_to)
    throw invalid('to', 'is in the future by the clock of the ledger')
  const next = await on<Tables>(scope.tx)
    .selectFrom('ledger_entry')
    .select('recorded_at')
    .where('org_id', '=', row.org_id)
    .where('seq', '=', size)
    .executeTakeFirst()
  return next === undefined || next.recorded_at >= row.period_to
}

/** Returns false if the report is no longer being generated. */
async function record(scope: LedgerScope, row: ReportHead, documents: Documents): Promise<boolean> {
  const db = on<Tables>(scope.tx)
  // The entry is the only one of its transaction, so it comes next.
  const { size } = await db
    .selectFrom('ledger_head')
    .select('size')
    .where('org_id', '=', row.org_id)
    .executeTakeFirstOrThrow()
  const { numUpdatedRows } = await db
    .updateTable('compliance_report')
    .set({
      ...documents,
      status: 'ready',
      generated_at: scope.recordedAt,
      record_seq: size,
      held_until: null,
    })
    .where('org_id', '=', row.org_id)
    .where('id', '=', row.id)
    .where('status', '=', 'generating')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
