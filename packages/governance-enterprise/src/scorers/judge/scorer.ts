import { setImmediate } from 'node:timers/promises'
import { fail, visitAll } from '@remit/core/base'
import type { Deps } from '@remit/core/module'
import { defineWaitingScorer, Unscorable } from '@remit/core/scorers'
import type { BatchOutcome, WaitingScorer } from '@remit/core/scorers'
import { assess, summarize } from './assess.ts'
import { readCached, storeVerdicts } from './cache.ts'
import { makeCall, requestOf, startRun } from './client.ts'
import type { JudgeRun } from './client.ts'
import type { Judges } from './judges.ts'
import { costBudget, dailyOf, dayLimit } from './limits.ts'
import { judgeParams } from './params.ts'
import { planOf } from './plan.ts'
import type { JudgeCall, Planned } from './plan.ts'
import { PARTS_OF_USD, usageReport } from './usage.ts'

interface JudgeDeps extends Pick<Deps, 'db' | 'clock' | 'log'> {
  /** A secret of this process for unpredictable ids of blocks. */
  readonly secret: Uint8Array
}

/**
 * The scorer that calls a configured model. A request selects a judge by alias only. No failure of a
 * judge fails the batch.
 */
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
      const { orgId, plan = 'none' } = context.caller ?? {}
      if (orgId === undefined || plan !== 'enterprise') {
        const detail = `llm_as_judge requires the enterprise plan; the organization has ${plan}`
        throw fail('plan_required', detail, { extensions: { required_plan: 'enterprise' } })
      }
      const daily = await dailyOf(deps.db, orgId, judges.daily, task.judge)
      const plans: Planned[] = []
      for (const result of results) {
        plans.push(planOf(task, result, deps.secret))
        // Hashing and searching long texts takes time; yield between them.
        await setImmediate()
      }
      const limits = [costBudget(task.max_cost_usd * PARTS_OF_USD), dayLimit(deps, orgId, daily)]
      const run = startRun({ task, limits, log: deps.log }, context.signal())
      const calls = plans.flatMap(callsOf)
      if (task.cache === 'use') await readCached(deps, orgId, calls, run.shape)
      if (task.dry_run) return estimate(run, plans)
      const open = calls.filter(isOpen)
      await visitAll(open, task.judge.concurrency, (call) => makeCall(run, call))
      if (task.cache !== 'off') await storeVerdicts(deps, orgId, open)
      const outcomes = plans.map((one) => (one instanceof Unscorable ? one : assess(task, one)))
      return { outcomes, metadata: summarize(task, outcomes, calls) }
    },
  })
}

const callsOf = (plan: Planned): JudgeCall[] =>
  plan instanceof Unscorable ? [] : plan.samples.flat()

/** Returns whether a call has no cached verdict. */
const isOpen = ({ verdict }: JudgeCall): boolean => !verdict

/** Estimates the maximum cost without a call. */
async function estimate(run: JudgeRun, plans: readonly Planned[]): Promise<BatchOutcome> {
  const { judge } = run.task
  const outcomes: Unscorable[] = []
  for (const plan of plans) {
    const calls = callsOf(plan)
    const open = calls.filter(isOpen)
    // The prompts of a result have one size: its samples are equal, and an order only moves text.
    const most = open[0] && requestOf(run, open[0].prompt(null), judge.structured_output[0]).most
    if (most) for (const { attempts } of open) attempts.push(most)
    const metadata = { estimate: usageReport(calls, judge.prices) }
    const fault = plan instanceof Unscorable ? plan : null
    outcomes.push(fault ?? new Unscorable('dry_run', 'the judge was not called', { metadata }))
    await setImmediate()
  }
  const total = usageReport(plans.flatMap(callsOf), judge.prices)
  return { outcomes, metadata: { judge: judge.alias, model: judge.model, estimate: total } }
}
