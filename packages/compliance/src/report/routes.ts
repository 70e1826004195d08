import { compliance } from '@remit/contract'
import type { Report, ReportQuery } from '@remit/contract'
import { fail, invalidCursor, pageOf } from '@remit/core/base'
import { implement, Reply } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import type { Jobs } from '../jobs/jobs.ts'
import { requestReport } from './request-report.ts'
import { evidencePage } from './evidence.ts'
import { EvidenceRuns } from './evidence-runs.ts'
import { answerIn } from './formats.ts'
import type { Generator } from './generator.ts'
import type { ReportRow } from '../tables/reports.ts'
import { findReport, listReports } from './store.ts'
import { storedOf } from './stored.ts'
import { listItem, unfinished } from './view.ts'

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
