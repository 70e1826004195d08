import { randomBytes } from 'node:crypto'
import type { Contribution, Deps } from '@remit/core/module'
import { judgeCleanup, NO_JUDGES, readJudges } from './judge/judges.ts'
import { llmAsJudge } from './judge/scorer.ts'
import { scorerRuns } from './runs.ts'

/** The contribution to scoring: a judge, and an entry for every run. */
export function scorersOf(
  deps: Deps,
): Required<Pick<Contribution, 'scorers' | 'scorerRuns' | 'start' | 'close'>> {
  const { judges } = deps.settings
  const cleanup = judgeCleanup(deps)
  const judge = llmAsJudge(judges ? readJudges(judges) : NO_JUDGES, {
    ...deps,
    secret: randomBytes(32),
  })
  return {
    scorers: [judge],
    scorerRuns: scorerRuns(deps),
    start: () => cleanup.start(),
    close: () => cleanup.close(),
  }
}
