import { fail } from '@remit/core/base'
import type { Compliance, Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import { requestReport } from './report/request-report.ts'
import { renderingOf } from './report/formats.ts'
import { Generator } from './report/generator.ts'
import { storedOf } from './report/store.ts'
import { verifyAndRecord } from './verify/verify-and-record.ts'
import type { Jobs } from './jobs/jobs.ts'

/** The operator waits without a limit. */
const PATIENCE_MS = 2 ** 31 - 1

/** Verification and reports for the command line. */
export const operatorOf = (deps: Deps, jobs: Jobs): Compliance => ({
  verify(orgId, { checkpoints = [], ...part }, onProgress) {
    return verifyAndRecord(deps, jobs, orgId, { ...part, checkpoints }, OPERATOR, { onProgress })
  },

  async report(orgId, request, query, onProgress) {
    const told: Jobs = {
      ...jobs,
      report: (id, question, watch) => jobs.report(id, question, { ...watch, onProgress }),
    }
    const generator = new Generator(deps, told)
    const asking = { ...deps, generator, patienceMs: PATIENCE_MS }
    const stored = storedOf(await requestReport(asking, { orgId, caller: null }, request, null))
    if (!stored) throw fail('report_not_ready')
    return { report: stored.report, text: renderingOf(stored, query).text }
  },
})
