import { fail, invalid, OPERATOR } from '@remit/core'
import type { Compliance, Deps } from '@remit/core'
import { askForReport } from './report/ask.ts'
import { renderingOf } from './report/formats.ts'
import { Generator } from './report/generator.ts'
import { storedOf } from './report/view.ts'
import { verificationOf } from './verify/answer.ts'
import { recordVerification } from './verify/record.ts'
import { sizeOf } from './watch/checkpoint-files.ts'
import type { Jobs } from './worker/jobs.ts'

/** An operator waits as long as it takes. */
const PATIENCE_MS = 2 ** 31 - 1

/** Verification and reports for the command line. */
export const operatorOf = (deps: Deps, jobs: Jobs): Compliance => ({
  async verify(orgId, { from_seq, to_seq, checkpoints = [] }, onProgress) {
    for (const note of checkpoints)
      if (sizeOf(note) === null) throw invalid('checkpoint', 'is not a signed checkpoint')
    const options = {
      checkpoints,
      ...(from_seq !== undefined && { fromSeq: from_seq }),
      ...(to_seq !== undefined && { toSeq: to_seq }),
    }
    const found = verificationOf(await jobs.verify(orgId, options, { onProgress }))
    const isWhole = from_seq === undefined && to_seq === undefined
    return recordVerification(deps.writer, orgId, OPERATOR, found, isWhole)
  },

  async report(orgId, request, query, onProgress) {
    const told: Jobs = {
      ...jobs,
      report: (id, question, watch) => jobs.report(id, question, { ...watch, onProgress }),
    }
    const generator = new Generator(deps, told)
    const asking = { ...deps, generator, patienceMs: PATIENCE_MS }
    const stored = storedOf(await askForReport(asking, { orgId, caller: null }, request, null))
    if (!stored) throw fail('report_not_ready')
    return { report: stored.report, text: renderingOf(stored, query).text }
  },
})
