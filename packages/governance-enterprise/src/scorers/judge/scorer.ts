import { defineWaitingScorer, fail, findOrganizationById, invalid, limitsOf } from '@remit/core'
import type { Caller, Deps, WaitingScorer } from '@remit/core'
import type { Judge, Judges } from './judges.ts'
import { dayLimit } from './limits.ts'
import { judgeParams } from './params.ts'
import { judgeAll } from './run.ts'
import type { JudgeDeps } from './run.ts'

/** The scorer that calls a configured model. A request selects a judge by alias only. */
export function llmAsJudge(judges: Judges, deps: JudgeDeps): WaitingScorer {
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
      const daily = caller && (await dailyOf(deps.db, caller, judges, task.judge))
      const organization = daily && {
        id: caller.orgId,
        daily: dayLimit(deps, caller.orgId, daily),
      }
      return judgeAll(results, task, context.signal(), organization, deps)
    },
  })
}

/**
 * The limit of the judges file, or that of the organization if it is lower; 0 USD permits no call.
 * Throws `plan_required`, or `invalid_request` for a judge whose cost is unknown: it would never
 * reach the limit.
 */
async function dailyOf(
  db: Deps['db'],
  { orgId, plan }: Caller,
  { daily }: Judges,
  { alias, prices }: Judge,
): Promise<Judges['daily']> {
  if (plan !== 'enterprise') {
    const detail = `llm_as_judge requires the enterprise plan; the organization has ${plan}`
    throw fail('plan_required', detail, { extensions: { required_plan: 'enterprise' } })
  }
  const own = limitsOf(await findOrganizationById(db, orgId)).judge_usd_per_day
  if (own === undefined) return daily
  if (own > 0 && !prices)
    throw invalid(
      'params.judge',
      `must be a judge with prices, because the organization has the limit judge_usd_per_day; ${alias} has none`,
    )
  return { ...daily, cost_usd: Math.min(own, daily.cost_usd ?? own) }
}
