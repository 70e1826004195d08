import { setImmediate } from 'node:timers/promises'
import { fail, visitAll } from '@remit/core/base'
import type { Deps } from '@remit/core/module'
import { defineWaitingScorer, Unscorable } from '@remit/core/scorers'
import type { BatchOutcome, WaitingScorer, ScoreOutcome } from '@remit/core/scorers'
import { readCached, storeVerdicts } from './judges.ts'
import { makeCall, requestOf, startRun } from './client.ts'
import type { JudgeRun } from './client.ts'
import type { Judges } from './judges.ts'
import { costBudget, dailyOf, dayLimit } from './limits.ts'
import { judgeParams } from './params.ts'
import type { JudgeTask } from './params.ts'
import { planOf } from './plan.ts'
import type { JudgeCall, Planned, JudgePlan } from './plan.ts'
import { PARTS_OF_USD, usageReport } from './usage.ts'
import { PROMPT_VERSION } from './providers.ts'
import type { AnswerOrder } from './providers.ts'
import { bothOrders, combine, INCONSISTENT, isQuorum, standing, weightedMean } from './verdict.ts'
import type { SampleVote, VoteResult } from './verdict.ts'

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

type Metadata = Readonly<Record<string, unknown>>

/** Combines all samples of a result. Pure. */
function assess(task: JudgeTask, plan: JudgePlan): ScoreOutcome | Unscorable {
  const { samples, isInjectionSuspected } = plan
  const calls = samples.flat()
  const facts = {
    ...factsOf(task, calls),
    injection_suspected: isInjectionSuspected,
    cached: calls.every(isCached),
    samples: calls.map((call) => shown(task, call)),
  }
  const valid = samples.filter((sample) => sample.every(({ verdict }) => verdict))
  if (!isQuorum(valid.length, samples.length)) return noQuorum(samples, facts)
  const votes = valid.map((sample) => votesOf(task, sample))
  const isConsistent = votes.every(([vote]) => vote !== INCONSISTENT)
  const metadata = { ...(task.position_swap && { position_consistent: isConsistent }), ...facts }
  const votesOn = (i: number) => votes.flatMap((sample) => sample[i] ?? [])
  const resultOn = (i: number) => combine(votesOn(i), task.aggregation)
  if (task.names.length === 0) {
    const { score, ...result } = resultOn(0)
    const reason = reasonOf(task, result, votes.length)
    return { score, reason, metadata: { ...result, ...metadata } }
  }
  const parts = task.criteria.map(({ weight }, i) => ({ weight, score: resultOn(i).score }))
  const reason = `the weighted mean of ${parts.length} criteria`
  const picks = picksOf(task, resultOn)
  return { score: weightedMean(parts), reason, metadata: { ...picks, ...metadata } }
}

/** The summary of a batch, including failed calls. It contains no judged text. */
function summarize(
  task: JudgeTask,
  outcomes: BatchOutcome['outcomes'],
  calls: readonly JudgeCall[],
): Metadata {
  const count = (name: string, value: boolean) =>
    outcomes.filter(({ metadata }) => metadata?.[name] === value).length
  const inconsistent = count('position_consistent', false)
  const compared = inconsistent + count('position_consistent', true)
  return {
    ...factsOf(task, calls),
    model: task.judge.model,
    mode: task.mode,
    cached_calls: calls.filter(isCached).length,
    injection_suspected: count('injection_suspected', true),
    ...(task.position_swap && {
      position_inconsistency_rate: compared === 0 ? null : inconsistent / compared,
    }),
  }
}

const factsOf = ({ judge }: JudgeTask, calls: readonly JudgeCall[]) => ({
  judge: judge.alias,
  prompt_version: PROMPT_VERSION,
  ...usageReport(calls, judge.prices),
})

/** A stored verdict needs no call. */
const isCached = ({ verdict, attempts }: JudgeCall): boolean =>
  verdict !== undefined && attempts.length === 0

/** The votes of one sample, one per label. */
function votesOf(task: JudgeTask, sample: readonly JudgeCall[]): readonly SampleVote[] {
  const [first = [], second] = sample.map(({ verdict = [], order }) =>
    verdict.map(({ choice }) => voteOf(task, choice, order)),
  )
  return first[0] && second?.[0] ? [bothOrders(first[0], second[0])] : first
}

const voteOf = ({ mode, choices }: JudgeTask, label: string, order: AnswerOrder): SampleVote =>
  mode === 'pairwise' ? standing(label, order) : { label, score: choices.get(label) ?? 0 }

/** Reports the most frequent failure. */
function noQuorum(samples: JudgePlan['samples'], metadata: Metadata): Unscorable {
  const failures = samples.flatMap((sample) => sample.find((call) => call.failure)?.failure ?? [])
  const byCode = Map.groupBy(failures, ({ code }) => code)
  const [failure] = [...byCode.values()].toSorted((a, b) => b.length - a.length)[0] ?? []
  const { code = 'judge_unavailable', message = 'the judge returned no verdict' } = failure ?? {}
  const count = `only ${samples.length - failures.length} of ${samples.length} samples have a verdict`
  return new Unscorable(code, samples.length === 1 ? message : `${count}: ${message}`, { metadata })
}

const SEES: Readonly<Record<string, string>> = {
  win: 'prefers the output',
  tie: 'sees no difference',
  loss: 'prefers expected',
  inconsistent: 'prefers a different answer when the order is swapped',
}

function reasonOf({ mode }: JudgeTask, { choice, votes }: VoteResult, count: number): string {
  if (choice === null) return `the ${count} samples tie`
  const says = mode === 'pairwise' ? (SEES[choice] ?? '') : `chose ${choice}`
  return count === 1
    ? `the judge ${says}`
    : `in ${votes[choice]} of ${count} samples, the judge ${says}`
}

function shown(task: JudgeTask, call: JudgeCall): Metadata {
  const order = call.order === null ? {} : { order: call.order }
  if (call.failure) return { ...order, error: call.failure.code }
  const picks = picksOf(task, (i) => call.verdict?.[i])
  const attempt = call.attempts.length
  return { ...order, ...picks, latency_ms: call.latencyMs, attempt, cached: isCached(call) }
}

/** The values of the named criteria, by name; without names, the only value. */
const picksOf = ({ names }: JudgeTask, valueOf: (i: number) => object | undefined): Metadata =>
  names.length === 0
    ? { ...valueOf(0) }
    : { criteria: Object.fromEntries(names.map((name, i) => [name, valueOf(i)])) }
