import { setImmediate } from 'node:timers/promises'
import type { ResultToScore } from '@remit/contract'
import { Unscorable } from '@remit/core'
import type { BatchOutcome, Deps } from '@remit/core'
import { assess } from './assess.ts'
import type { CallOutcome } from './assess.ts'
import { estimate } from './client.ts'
import type { JudgeClient } from './client.ts'
import type { DayLimit } from './day-limit.ts'
import { RunEnding } from './ending.ts'
import { JudgeFailure } from './failure.ts'
import { planOf } from './plan.ts'
import type { JudgePlan, PlannedCall } from './plan.ts'
import { PROMPT_VERSION, promptOf } from './prompt.ts'
import type { AnswerOrder } from './prompt.ts'
import { blockId } from './spotlight.ts'
import { Summary } from './summary.ts'
import type { JudgeTask } from './task.ts'
import { UsageMeter } from './usage.ts'
import type { JudgeVerdict, VerdictShape } from './verdict.ts'
import { verdictShape } from './verdict.ts'

export interface JudgeDeps {
  readonly client: JudgeClient
  readonly log: Deps['log']
  /** A secret of this process for unpredictable block ids. */
  readonly secret: Uint8Array
}

/** The limits and cached verdicts of one organization. */
export interface OrganizationLimits {
  readonly verdicts: Verdicts
  readonly day: DayLimit | null
}

/** The cached verdicts, and those that this run finds. */
export interface Verdicts {
  kept(keys: readonly string[]): Promise<ReadonlyMap<string, string>>
  found(verdicts: ReadonlyMap<string, JudgeVerdict>): Promise<void>
}

/** Judges a batch. No failure of a judge fails the batch. */
export async function judgeAll(
  results: readonly ResultToScore[],
  task: JudgeTask,
  signal: AbortSignal,
  { verdicts, day }: OrganizationLimits,
  deps: JudgeDeps,
): Promise<BatchOutcome> {
  const plans: (JudgePlan | Unscorable)[] = []
  for (const result of results) {
    plans.push(planOf(task, result))
    // Hashing and searching long texts takes time; yield between them.
    await setImmediate()
  }
  const keys = plans.flatMap((plan) =>
    plan instanceof Unscorable ? [] : plan.samples.flat().map(({ key }) => key),
  )
  const kept = task.cache === 'use' ? await verdicts.kept(keys) : new Map<string, string>()
  const judging = new Judging(task, kept, deps)
  if (task.dryRun) return judging.estimate(plans)
  using ending = new RunEnding(task, signal, day)
  const outcome = await judging.judge(plans, ending)
  if (task.cache !== 'off') await verdicts.found(judging.found)
  return outcome
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

  async judge(
    plans: readonly (JudgePlan | Unscorable)[],
    ending: RunEnding,
  ): Promise<BatchOutcome> {
    const outcomes = new Map<PlannedCall, CallOutcome>()
    const meters = new Map<JudgePlan, UsageMeter>()
    const calls = plans.flatMap((plan) => {
      if (plan instanceof Unscorable) return []
      const meter = new UsageMeter()
      meters.set(plan, meter)
      return plan.samples.flat().map((call) => ({ plan, call, meter }))
    })
    const queue = calls.values()
    const work = async () => {
      for (const { plan, call, meter } of queue) {
        outcomes.set(call, await this.#outcomeOf(plan, call, meter, ending))
      }
    }
    // Limited to the concurrency of the judge: the prompts of all calls would use too much memory.
    const workers = Math.min(calls.length, this.#task.judge.concurrency)
    await Promise.all(Array.from({ length: workers }, work))
    const summary = new Summary(this.#task)
    const assessed = plans.map((plan) => {
      if (plan instanceof Unscorable) return plan
      const samples = plan.samples.map((planned) =>
        planned.flatMap((call) => outcomes.get(call) ?? []),
      )
      const meter = meters.get(plan) ?? new UsageMeter()
      const outcome = assess(this.#task, samples, this.#facts(plan, samples, meter))
      summary.add(outcome, samples, meter)
      return outcome
    })
    return { outcomes: assessed, metadata: summary.report() }
  }

  /** Estimates the maximum cost without a call. */
  async estimate(plans: readonly (JudgePlan | Unscorable)[]): Promise<BatchOutcome> {
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
    const calls = plan.samples.flat().filter((call) => !this.#keptVerdict(call))
    // Samples are equal, so each order has one size.
    for (const [order, same] of Map.groupBy(calls, (call) => call.order)) {
      const usage = estimate(this.#asked(plan, order))
      meter.calls += same.length
      for (const _ of same) meter.add(usage, this.#task.judge.prices)
    }
    return meter
  }

  async #outcomeOf(
    plan: JudgePlan,
    call: PlannedCall,
    meter: UsageMeter,
    run: RunEnding,
  ): Promise<CallOutcome> {
    const { order } = call
    const kept = this.#keptVerdict(call)
    if (kept) return { order, verdict: kept, attempt: 0, latencyMs: 0, isCached: true }
    try {
      run.signal.throwIfAborted()
      const answered = await this.#deps.client.ask({ ...this.#asked(plan, order), run, meter })
      this.found.set(call.key, answered.verdict)
      return { order, ...answered, isCached: false }
    } catch (error) {
      if (error instanceof JudgeFailure) return { order, failure: error }
      // Usage must be recorded, so an internal error ends only one call.
      this.#deps.log.error({ err: error }, 'calling a judge failed')
      return { order, failure: new JudgeFailure('judge_unavailable', 'the server failed') }
    }
  }

  #keptVerdict({ key }: PlannedCall): JudgeVerdict | null {
    const text = this.#kept.get(key)
    return text === undefined ? null : this.#shape.readKept(text)
  }

  #asked({ fields }: JudgePlan, order: AnswerOrder) {
    const id = blockId(this.#deps.secret, fields)
    const prompt = promptOf(this.#task, fields, order, id)
    return { task: this.#task, prompt, shape: this.#shape }
  }

  #facts(
    { isInjectionSuspected }: JudgePlan,
    samples: readonly (readonly CallOutcome[])[],
    meter: UsageMeter,
  ): Record<string, unknown> {
    const { alias: judge, prices } = this.#task.judge
    return {
      judge,
      prompt_version: PROMPT_VERSION,
      injection_suspected: isInjectionSuspected,
      cached: samples.flat().every((call) => 'verdict' in call && call.isCached),
      ...meter.report(prices),
    }
  }
}
