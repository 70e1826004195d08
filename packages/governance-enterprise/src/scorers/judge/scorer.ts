import { defineWaitingScorer, fail } from '@remit/core'
import type { Caller, WaitingScorer } from '@remit/core'
import type { VerdictCache } from './cache.ts'
import type { Judges } from './judges.ts'
import { judgeParams } from './params.ts'
import { judgeAll } from './run.ts'
import type { JudgeDeps, Verdicts } from './run.ts'

const NOBODY: Verdicts = { kept: () => Promise.resolve(new Map()), found: () => Promise.resolve() }

/** The scorer that asks a model of the operator. A request can name one, and nothing else of it. */
export function llmAsJudge(judges: Judges, cache: VerdictCache, deps: JudgeDeps): WaitingScorer {
  return defineWaitingScorer({
    name: 'llm_as_judge',
    version: '1',
    description:
      'A model judges the output by your criteria: labels with scores, several criteria at once, or a comparison with expected',
    edition: 'enterprise',
    defaultThreshold: 0.5,
    maxResults: 100,
    params: judgeParams(judges),
    fields: {
      input: 'optional',
      output: 'required',
      expected: 'optional',
      context: 'optional',
      tool_calls: 'optional',
      trajectory: 'optional',
    },
    async scoreAll(results, task, context) {
      const { caller } = context
      if (caller) checkPlan(caller)
      const verdicts = caller ? verdictsOf(cache, caller.orgId) : NOBODY
      return judgeAll(results, task, context.signal(), verdicts, deps)
    },
  })
}

function checkPlan({ plan }: Caller): void {
  if (plan === 'enterprise') return
  throw fail(
    'plan_required',
    `llm_as_judge needs the enterprise plan; the organization has ${plan}`,
    { extensions: { required_plan: 'enterprise' } },
  )
}

const verdictsOf = (cache: VerdictCache, orgId: string): Verdicts => ({
  kept: (keys) => cache.read(orgId, keys),
  found: (verdicts) => cache.keep(orgId, verdicts),
})
