import type { Database } from '@remit/core/db/open'
import type { SeqRun } from '../facts/index.ts'
import { replay } from '../preview/replay.ts'
import type { ReplayResult, Tally, LedgerCheck, ReportFacts, Task } from '../jobs/jobs.ts'
import { readEvidence, readReportFacts } from '../report/read-ledger.ts'
import { tally } from '../stats/keeper.ts'
import type { Tables } from '../tables/schema.ts'
import { checkLedger } from '../verify/check-ledger.ts'
import type { CheckHooks } from '../verify/check-ledger.ts'

/** Runs one job on one snapshot of the database. */
export async function runTask(
  db: Database<Tables>,
  task: Task,
  onProgress: NonNullable<CheckHooks['onProgress']>,
): Promise<LedgerCheck | ReportFacts | SeqRun | ReplayResult | Tally | null> {
  const { orgId, trust } = task
  if (task.kind === 'verify')
    return (await checkLedger(db, orgId, task.options, trust, { onProgress })).check
  if (task.kind === 'tally') return tally(db, orgId, task.fromSeq)
  if (task.kind === 'replay') return replay(db, orgId, task.replay, onProgress)
  if (task.kind === 'report') return readReportFacts(db, orgId, task.question, trust, onProgress)
  return readEvidence(db, orgId, task.query, trust, onProgress)
}
