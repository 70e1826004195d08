import { setImmediate } from 'node:timers/promises'
import type { ResultToScore } from '@remit/contract'
import { Unscorable } from '@remit/core'
import type { BatchOutcome, Deps, ScoreOutcome } from '@remit/core'
import { assess } from './assess.ts'
import type { CallOutcome } from './assess.ts'
import { CostBudget } from './budget.ts'
import type { VerdictCache } from './cache.ts'
import { estimate } from './client.ts'
import type { JudgeClient, JudgeQuery, JudgeRun } from './client.ts'
import type { DayLimit } from './day-limit.ts'
import { JudgeFailure } from './failure.ts'
import type { JudgeTask } from './params.ts'
import { planOf } from './plan.ts'
import type { JudgePlan, PlannedCall } from './plan.ts'
import { PROMPT_VERSION, promptOf } from './prompt.ts'
import type { AnswerOrder } from './prompt.ts'
import { blockId } from './spotlight.ts'
import { PARTS_OF_USD, UsageMeter } from './usage.ts'
import { verdictShape } from './verdict.ts'
import type { JudgeVerdict, VerdictShape } from './verdict.ts'

export interface JudgeDeps {
  readonly client: JudgeClient
  readonly log: Deps['log']
  /** A secret of this process for unpredictable block ids. */
  readonly secret: Uint8Array
}

/** The limits and cached verdicts of one organization. */
interface Organization {
  readonly verdicts: { readonly cache: VerdictCache; readonly orgId: string }
  readonly day: DayLimit
}

type Planned = JudgePlan | Unscorable
type Outcome = ScoreOutcome | Unscorable

/** Judges a batch. No failure of a judge fails the batch. */
export async function judgeAll(
  results: readonly ResultToScore[],
  task: JudgeTask,
  client: AbortSignal,
  organization: Organization | null,
  deps: JudgeDeps,
): Promise<BatchOutcome> {
  const plans: Planned[] = []
  for (const result of results) {
    plans.push(planOf(task, result))
    // Hashing and searching long texts takes time; yield between them.
    await setImmediate()
  }
  const { cache, orgId = '' } = organization?.verdicts ?? {}
  const keys = plans.flatMap((plan) => callsOf(plan).map(({ key }) => key))
  const kept = task.cache === 'use' ? await cache?.read(orgId, keys) : undefined
  const judging = new Judging(task, kept ?? new Map<string, string>(), deps)
  if (task.dry_run) return judging.estimate(plans)
  using run = startRun(task, client, organization?.day ?? null)
  const outcome = await judging.judge(plans, run)
  if (task.cache !== 'off') await cache?.keep(orgId, judging.found)
  return outcome
}

const callsOf = (plan: Planned): PlannedCall[] =>
  plan instanceof Unscorable ? [] : plan.samples.flat()

/** Starts a run, which its deadline or a disconnected client ends before all verdicts. */
function startRun(
  { deadline_ms: deadlineMs, max_cost_usd: most }: JudgeTask,
  client: AbortSignal,
  day: DayLimit | null,
): JudgeRun & Disposable {
  const controller = new AbortController()
  const stop = (failure: JudgeFailure) => controller.abort(failure)
  const onGone = () => stop(new JudgeFailure('judge_unavailable', 'the request was cancelled'))
  const onTimeout = () =>
    stop(new JudgeFailure('judge_timeout', "the request's deadline has passed"))
  const until = performance.now() + deadlineMs
  const timer = setTimeout(onTimeout, deadlineMs)
  if (client.aborted) onGone()
  client.addEventListener('abort', onGone, { once: true })
  return {
    signal: controller.signal,
    stop,
    day,
    budget: most === null ? null : new CostBudget(most * PARTS_OF_USD),
    left: () => until - performance.now(),
    [Symbol.dispose]() {
      clearTimeout(timer)
      client.removeEventListener('abort', onGone)
    },
  }
}

/** One running batch. */
class Judging {
  readonly found = new Map<string, JudgeVerdict>()
  readonly #task: JudgeTask
  readonly #shape: VerdictShape
  readonly #kept: ReadonlyMap<string, string>
  readonly #deps: JudgeDeps

  constructor(task: JudgeTask, kept: ReadonlyMap<string, string>, deps: JudgeDeps) {
    this.#task = task
    this.#shape = verdictShape(task)
    this.#kept = kept
    this.#deps = deps
  }

  async judge(plans: readonly Planned[], run: JudgeRun): Promise<BatchOutcome> {
    const called = new Map<PlannedCall, CallOutcome>()
    const meters = new Map(plans.map((plan) => [plan, new UsageMeter()]))
    const calls = [...meters].flatMap(([plan, meter]) =>
      plan instanceof Unscorable ? [] : callsOf(plan).map((call) => ({ plan, call, meter })),
    )
    const queue = calls.values()
    const work = async () => {
      for (const { plan, call, meter } of queue)
        called.set(call, await this.#outcomeOf(plan, call, meter, run))
    }
    // Limited to the concurrency of the judge: the prompts of all calls would use too much memory.
    const workers = Math.min(calls.length, this.#task.judge.concurrency)
    await Promise.all(Array.from({ length: workers }, work))
    const outcomes = [...meters].map(([plan, meter]): Outcome => {
      if (plan instanceof Unscorable) return plan
      const samples = plan.samples.map((sample) => sample.flatMap((call) => called.get(call) ?? []))
      return assess(this.#task, samples, this.#facts(plan, samples.flat(), meter))
    })
    return { outcomes, metadata: this.#summary(outcomes, [...called.values()], meters.values()) }
  }

  /** Estimates the maximum cost without a call. */
  async estimate(plans: readonly Planned[]): Promise<BatchOutcome> {
    const { alias: judge, model, prices } = this.#task.judge
    const total = new UsageMeter()
    const outcomes: Unscorable[] = []
    for (const plan of plans) {
      if (plan instanceof Unscorable) outcomes.push(plan)
      else {
        const meter = this.#estimateOf(plan)
        total.join(meter)
        const metadata = { estimate: meter.report(prices) }
        outcomes.push(new Unscorable('dry_run', 'the judge was not called', { metadata }))
      }
      await setImmediate()
    }
    return { outcomes, metadata: { judge, model, estimate: total.report(prices) } }
  }

  #estimateOf(plan: JudgePlan): UsageMeter {
    const meter = new UsageMeter()
    const calls = callsOf(plan).filter((call) => !this.#keptVerdict(call))
    // Samples are equal, so each order has one size.
    for (const [order, same] of Map.groupBy(calls, (call) => call.order)) {
      const usage = estimate(this.#queryOf(plan, order))
      meter.calls += same.length
      for (const _ of same) meter.add(usage, this.#task.judge.prices)
    }
    return meter
  }

  async #outcomeOf(
    plan: JudgePlan,
    { key, order }: PlannedCall,
    meter: UsageMeter,
    run: JudgeRun,
  ): Promise<CallOutcome> {
    const kept = this.#keptVerdict({ key })
    if (kept) return { order, verdict: kept, attempt: 0, latencyMs: 0, isCached: true }
    try {
      run.signal.throwIfAborted()
      const answer = await this.#deps.client.ask({ ...this.#queryOf(plan, order), run, meter })
      this.found.set(key, answer.verdict)
      return { order, ...answer, isCached: false }
    } catch (error) {
      if (error instanceof JudgeFailure) return { order, failure: error }
      // Usage must be recorded, so an internal error ends only one call.
      this.#deps.log.error({ err: error }, 'calling a judge failed')
      return { order, failure: new JudgeFailure('judge_unavailable', 'the server failed') }
    }
  }

  #keptVerdict({ key }: Pick<PlannedCall, 'key'>): JudgeVerdict | null {
    const text = this.#kept.get(key)
    return text === undefined ? null : this.#shape.readKept(text)
  }

  #queryOf({ fields }: JudgePlan, order: AnswerOrder): JudgeQuery {
    const id = blockId(this.#deps.secret, fields)
    const prompt = promptOf(this.#task, fields, order, id)
    return { task: this.#task, prompt, shape: this.#shape }
  }

  #facts(
    { isInjectionSuspected }: JudgePlan,
    calls: readonly CallOutcome[],
    meter: UsageMeter,
  ): Record<string, unknown> {
    const { alias: judge, prices } = this.#task.judge
    return {
      judge,
      prompt_version: PROMPT_VERSION,
      injection_suspected: isInjectionSuspected,
      cached: calls.every(isCached),
      ...meter.report(prices),
    }
  }

  /** The summary of a batch, including failed calls. It contains no judged text. */
  #summary(
    outcomes: readonly Outcome[],
    calls: readonly CallOutcome[],
    meters: Iterable<UsageMeter>,
  ): Record<string, unknown> {
    const { judge, mode, position_swap } = this.#task
    const total = new UsageMeter()
    for (const meter of meters) total.join(meter)
    const count = (name: string, value: boolean) =>
      outcomes.filter(({ metadata }) => metadata?.[name] === value).length
    const inconsistent = count('position_consistent', false)
    const compared = inconsistent + count('position_consistent', true)
    return {
      judge: judge.alias,
      model: judge.model,
      mode,
      prompt_version: PROMPT_VERSION,
      ...total.report(judge.prices),
      cached_calls: calls.filter(isCached).length,
      injection_suspected: count('injection_suspected', true),
      ...(position_swap && {
        position_inconsistency_rate: compared === 0 ? null : inconsistent / compared,
      }),
    }
  }
}

const isCached = (call: CallOutcome): boolean => 'verdict' in call && call.isCached
