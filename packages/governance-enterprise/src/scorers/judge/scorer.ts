import { defineWaitingScorer, fail, findOrganizationById, invalid, limitsOf } from '@remit/core'
import type { Caller, Deps, WaitingScorer } from '@remit/core'
import type { Judge, Judges } from './judges.ts'
import { judgeParams } from './params.ts'
import { DayLimit } from './day-limit.ts'
import { judgeAll } from './run.ts'
import type { JudgeDeps } from './run.ts'

/** The scorer that calls a configured model. A request selects a judge by alias only. */
export function llmAsJudge(
  judges: Judges,
  deps: JudgeDeps & Pick<Deps, 'db' | 'clock'>,
): WaitingScorer {
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
      const daily = caller && (await dailyOf(deps.db, caller.orgId, judges.daily, task.judge))
      const day = daily && new DayLimit(deps, caller.orgId, daily)
      const organization = day && { id: caller.orgId, day }
      return judgeAll(results, task, context.signal(), organization, deps)
    },
  })
}

/**
 * The limit of the judges file, or that of the organization if it is lower; 0 USD permits no call.
 * Throws `invalid_request` for a judge whose cost is unknown: it would never reach the limit.
 */
async function dailyOf(
  db: Deps['db'],
  orgId: string,
  { calls, cost_usd: usd }: Judges['daily'],
  { alias, prices }: Judge,
): Promise<Judges['daily']> {
  const own = limitsOf(await findOrganizationById(db, orgId)).judge_usd_per_day
  if (own === undefined) return { calls, cost_usd: usd }
  if (own === 0) return { calls: 0, cost_usd: 0 }
  if (!prices)
    throw invalid(
      'params.judge',
      `must be a judge with prices, because the organization has the limit judge_usd_per_day; ${alias} has none`,
    )
  return { calls, cost_usd: Math.min(own, usd ?? own) }
}

function checkPlan({ plan }: Caller): void {
  if (plan === 'enterprise') return
  throw fail(
    'plan_required',
    `llm_as_judge requires the enterprise plan; the organization has ${plan}`,
    { extensions: { required_plan: 'enterprise' } },
  )
}
