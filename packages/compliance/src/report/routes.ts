import { compliance, ReportSummary } from '@remit/contract'
import type {
  Report,
  ReportQuery,
  Framework,
  ReportListItem,
  EvidenceEntry,
  EvidenceQuery,
  ReadyReport,
} from '@remit/contract'
import { fail, invalidCursor, pageOf, invalid } from '@remit/core/base'
import type { Page } from '@remit/core/base'
import { implement, Reply } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { on } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import { findCut } from '@remit/core/ledger/records'
import type { Jobs, EvidenceRequest as Wanted } from '../jobs/jobs.ts'
import { requestReport } from './request-report.ts'
import { EvidenceRuns } from './evidence-runs.ts'
import { answerIn } from './formats.ts'
import type { Generator } from './generator.ts'
import type { ReportRow, ReportHead } from '../tables/reports.ts'
import { findReport, listReports, findEntries, storedOf, jsonIn } from './store.ts'
import { catalogue, CHECKS } from '../catalogue/catalogue.ts'
import { controlsIn } from '../catalogue/report-scope.ts'
import type { Tables } from '../tables/schema.ts'

const PATIENCE_MS = 5000

export interface ReportDeps extends Deps {
  readonly jobs: Jobs
  readonly generator: Generator
  readonly patienceMs?: number
}

export const reportRoutes = (deps: ReportDeps): Route[] => {
  const { db, patienceMs = PATIENCE_MS } = deps
  const runs = new EvidenceRuns(deps.jobs)
  const known = async (orgId: string, id: string): Promise<ReportRow> => {
    const row = await findReport(db, orgId, id)
    if (!row) throw fail('report_not_found')
    return row
  }
  return implement(compliance, {
    createReport: async ({ body }, caller, { claim }) => {
      const row = await requestReport(
        { ...deps, patienceMs },
        { orgId: caller.orgId, caller },
        body,
        claim,
      )
      const Location = `/v1/compliance/reports/${row.id}`
      const stored = storedOf(row)
      if (stored) return answerIn(stored, AS_JSON, { status: 201, headers: { Location } })
      return new Reply(unfinished(row), { status: 202, headers: { Location, 'Retry-After': '5' } })
    },

    listReports: async ({ query }, { orgId }) => {
      const beforeId = placeOf(query.cursor)
      return pageOf(query.limit, {
        read: (limit) => listReports(db, orgId, { limit, beforeId }),
        cursor: ({ id }) => id,
        items: (rows) => rows.map(listItem),
      })
    },

    getReport: async ({ params, query }, caller): Promise<Report | Reply<Report>> => {
      const row = await known(caller.orgId, params.id)
      const stored = storedOf(row)
      if (stored) return answerIn(stored, query)
      if (query.format === 'json') return unfinished(row)
      throw notReady(row)
    },

    listReportEvidence: async ({ params, query }, caller, request) => {
      const row = await known(caller.orgId, params.id)
      const stored = storedOf(row)
      if (!stored) throw notReady(row)
      return evidencePage({ db, runs }, caller.orgId, stored.report, query, request.signal())
    },
  })
}

const AS_JSON: ReportQuery = { format: 'json' }

const notReady = ({ status }: ReportRow) =>
  fail('report_not_ready', status === 'failed' ? 'The report could not be generated' : undefined)

function placeOf(cursor: string | undefined): string | undefined {
  if (cursor !== undefined && !/^rpt_[0-9a-z]{26}$/.test(cursor)) throw invalidCursor()
  return cursor
}

const askedOf = ({ id, framework, period_from, period_to }: ReportHead) => ({
  id,
  framework: framework as Framework,
  period: { from: period_from, to: period_to },
})

/** A report that is not finished. */
const unfinished = (row: ReportHead): Report =>
  row.status === 'failed'
    ? {
        ...askedOf(row),
        status: 'failed',
        requested_at: row.requested_at,
        detail: row.failure ?? '',
      }
    : { ...askedOf(row), status: 'generating', requested_at: row.requested_at }

const listItem = (row: ReportHead): ReportListItem => ({
  ...askedOf(row),
  status: row.status,
  requested_at: row.requested_at,
  generated_at: row.generated_at,
  // One modified row must not hide the others.
  summary: ReportSummary.safeParse(jsonIn(row.summary)).data ?? null,
  content_sha256: row.content_sha256,
  verified: row.verified === null ? null : row.verified === 1,
})

/** The entries behind a control or a check of a report, in order, while all of them are kept. */
async function evidencePage(
  { db, runs }: Pick<Deps, 'db'> & { readonly runs: EvidenceRuns },
  orgId: string,
  report: ReadyReport,
  query: EvidenceQuery,
  signal: AbortSignal,
): Promise<Page<EvidenceEntry>> {
  const afterSeq = evidencePlaceOf(query.cursor)
  const of = sourceOf(report, query)
  await ensureNotPruned(db, orgId, report)
  // A manual control has no kinds.
  if ('kinds' in of && of.kinds.length === 0) return { data: [], next_cursor: null }
  const { seqs, isLast } = await runs.page({ orgId, report, of, afterSeq }, query.limit, signal)
  const data = seqs.length === 0 ? [] : await findEntries(db, orgId, seqs)
  // A concurrent pruning may have removed some of them.
  await ensureNotPruned(db, orgId, report)
  return { data, next_cursor: isLast ? null : String(seqs.at(-1)) }
}

function sourceOf(
  { framework, content }: ReadyReport,
  { control, check }: EvidenceQuery,
): Wanted['of'] {
  if (check !== undefined) {
    if (!CHECKS.has(check)) throw invalid('check', 'is not a check of a report')
    return { check }
  }
  const inScope = controlsIn(catalogue(framework), content.scope)
  const found = inScope.find(({ id }) => id === control)
  if (!found) throw invalid('control', 'is not a control of the report')
  return { kinds: found.evidence }
}

function evidencePlaceOf(cursor: string | undefined): number | null {
  if (cursor === undefined) return null
  if (!/^(0|[1-9]\d{0,14})$/.test(cursor)) throw invalidCursor()
  return Number(cursor)
}

/**
 * Throws `ledger_pruned` if entries of a report were pruned since: the remaining entries would
 * silently contradict it. This includes entries before the period, since checks look back on them
 * and earlier configuration is evidence.
 */
async function ensureNotPruned(
  db: AnyDatabase,
  orgId: string,
  { content: { ledger } }: ReadyReport,
): Promise<void> {
  const cut = await findCut(on<Tables>(db), orgId)
  if (!cut || cut.size <= (ledger.verified_from_seq ?? 0)) return
  throw fail(
    'ledger_pruned',
    `Entries of the report were pruned: the ledger now starts at entry ${cut.size}. A new report for the period lists the remaining evidence`,
  )
}
