import { setImmediate } from 'node:timers/promises'
import type { ResultToScore } from '@remit/contract'
import { Unscorable } from '@remit/core'
import type { BatchOutcome, Deps } from '@remit/core'
import { assess, isCached } from './assess.ts'
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
  readonly cache: VerdictCache
  readonly log: Deps['log']
  /** A secret of this process for unpredictable block ids. */
  readonly secret: Uint8Array
}

/** The organization of a request, with its limit. */
interface Organization {
  readonly id: string
  readonly day: DayLimit
}

type Planned = JudgePlan | Unscorable

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
  const keys = plans.flatMap((plan) => callsOf(plan).map(({ key }) => key))
  const mayRead = organization && task.cache === 'use'
  const kept = mayRead ? await deps.cache.read(organization.id, keys) : new Map<string, string>()
  const batch = new Batch(task, kept, deps)
  if (task.dry_run) return batch.estimate(plans)
  const outcome = await batch.judge(plans, startRun(task, client, organization?.day ?? null))
  if (organization && task.cache !== 'off') await deps.cache.keep(organization.id, batch.found)
  return outcome
}

const callsOf = (plan: Planned): PlannedCall[] =>
  plan instanceof Unscorable ? [] : plan.samples.flat()

/** Starts a run, which its deadline or a disconnected client ends before all verdicts. */
function startRun(task: JudgeTask, client: AbortSignal, day: DayLimit | null): JudgeRun {
  const { deadline_ms: deadlineMs, max_cost_usd: most } = task
  const pointless = new AbortController()
  const until = performance.now() + deadlineMs
  return {
    signal: AbortSignal.any([client, pointless.signal, AbortSignal.timeout(deadlineMs)]),
    stop: (failure) => pointless.abort(failure),
    day,
    budget: most === undefined ? null : new CostBudget(most * PARTS_OF_USD),
    left: () => until - performance.now(),
  }
}

/** The failure of a call that `reason` of an aborted run has ended. */
const abortedBy = (reason: unknown): JudgeFailure =>
  reason instanceof DOMException && reason.name === 'TimeoutError'
    ? new JudgeFailure('judge_timeout', "the request's deadline has passed")
    : new JudgeFailure('judge_unavailable', 'the request was cancelled')

/** One running batch. */
class Batch {
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
    const calls = plans.flatMap((plan) => callsOf(plan).map((call) => ({ plan, call })))
    const queue = calls.values()
    const work = async () => {
      for (const { plan, call } of queue)
        if (!(plan instanceof Unscorable)) called.set(call, await this.#outcomeOf(plan, call, run))
    }
    // Limited to the concurrency of the judge: the prompts of all calls would use too much memory.
    await Promise.all(Array.from({ length: this.#task.judge.concurrency }, work))
    const outcomes = plans.map((plan) => {
      if (plan instanceof Unscorable) return plan
      const samples = plan.samples.map((sample) => sample.flatMap((call) => called.get(call) ?? []))
      return assess(this.#task, samples, this.#facts(plan, samples.flat()))
    })
    return { outcomes, metadata: this.#summary(outcomes, [...called.values()]) }
  }

  /** Estimates the maximum cost without a call. */
  async estimate(plans: readonly Planned[]): Promise<BatchOutcome> {
    const { alias: judge, model, prices } = this.#task.judge
    const meters: UsageMeter[] = []
    const outcomes: Unscorable[] = []
    for (const plan of plans) {
      if (plan instanceof Unscorable) outcomes.push(plan)
      else {
        const meter = this.#estimateOf(plan)
        meters.push(meter)
        const metadata = { estimate: meter.report(prices) }
        outcomes.push(new Unscorable('dry_run', 'the judge was not called', { metadata }))
      }
      await setImmediate()
    }
    return { outcomes, metadata: { judge, model, estimate: UsageMeter.sum(meters).report(prices) } }
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

  async #outcomeOf(plan: JudgePlan, call: PlannedCall, run: JudgeRun): Promise<CallOutcome> {
    const { order } = call
    const meter = new UsageMeter()
    const kept = this.#keptVerdict(call)
    if (kept) return { order, meter, verdict: kept, latencyMs: 0 }
    const started = performance.now()
    try {
      run.signal.throwIfAborted()
      const verdict = await this.#deps.client.ask(this.#queryOf(plan, order), run, meter)
      this.found.set(call.key, verdict)
      return { order, meter, verdict, latencyMs: Math.round(performance.now() - started) }
    } catch (error) {
      if (error instanceof JudgeFailure) return { order, meter, failure: error }
      if (error === run.signal.reason) return { order, meter, failure: abortedBy(error) }
      // Usage must be recorded, so an internal error ends only one call.
      this.#deps.log.error({ err: error }, 'calling a judge failed')
      const failure = new JudgeFailure('judge_unavailable', 'the server failed')
      return { order, meter, failure }
    }
  }

  #keptVerdict({ key }: PlannedCall): JudgeVerdict | null {
    const text = this.#kept.get(key)
    return text === undefined ? null : this.#shape.readKept(text)
  }

  #queryOf({ fields }: JudgePlan, order: AnswerOrder): JudgeQuery {
    const id = blockId(this.#deps.secret, fields)
    const prompt = promptOf(this.#task, fields, order, id)
    return { task: this.#task, prompt, shape: this.#shape }
  }

  #facts({ isInjectionSuspected }: JudgePlan, calls: readonly CallOutcome[]) {
    const { alias: judge, prices } = this.#task.judge
    return {
      judge,
      prompt_version: PROMPT_VERSION,
      injection_suspected: isInjectionSuspected,
      cached: calls.every(isCached),
      ...UsageMeter.sum(calls.map(({ meter }) => meter)).report(prices),
    }
  }

  /** The summary of a batch, including failed calls. It contains no judged text. */
  #summary(outcomes: BatchOutcome['outcomes'], calls: readonly CallOutcome[]) {
    const { judge, mode, position_swap } = this.#task
    const count = (name: string, value: boolean) =>
      outcomes.filter(({ metadata }) => metadata?.[name] === value).length
    const inconsistent = count('position_consistent', false)
    const compared = inconsistent + count('position_consistent', true)
    return {
      judge: judge.alias,
      model: judge.model,
      mode,
      prompt_version: PROMPT_VERSION,
      ...UsageMeter.sum(calls.map(({ meter }) => meter)).report(judge.prices),
      cached_calls: calls.filter(isCached).length,
      injection_suspected: count('injection_suspected', true),
      ...(position_swap && {
        position_inconsistency_rate: compared === 0 ? null : inconsistent / compared,
      }),
    }
  }
}
