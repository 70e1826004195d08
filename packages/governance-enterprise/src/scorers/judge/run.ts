import { setImmediate } from 'node:timers/promises'
import type { ResultToScore } from '@remit/contract'
import { Unscorable } from '@remit/core'
import type { BatchOutcome } from '@remit/core'
import { assess, summarize } from './assess.ts'
import { readCached, storeVerdicts } from './cache.ts'
import type { CacheDeps } from './cache.ts'
import { ask, requestOf } from './client.ts'
import type { JudgeRun } from './client.ts'
import { JudgeFailure } from './failure.ts'
import { costBudget } from './limits.ts'
import type { CallLimit } from './limits.ts'
import type { JudgeTask } from './params.ts'
import { planOf } from './plan.ts'
import type { JudgeCall, JudgePlan } from './plan.ts'
import { PARTS_OF_USD, UsageMeter } from './usage.ts'
import { verdictShape } from './verdict.ts'

export interface JudgeDeps extends CacheDeps {
  /** A secret of this process for unpredictable ids of blocks. */
  readonly secret: Uint8Array
}

/** The organization of a request, with its daily limit. */
interface Organization {
  readonly id: string
  readonly daily: CallLimit
}

type Plans = readonly (JudgePlan | Unscorable)[]

/** Judges a batch until `client` aborts. No failure of a judge fails the batch. */
export async function judgeAll(
  results: readonly ResultToScore[],
  task: JudgeTask,
  client: AbortSignal,
  organization: Organization | null,
  deps: JudgeDeps,
): Promise<BatchOutcome> {
  const plans: (JudgePlan | Unscorable)[] = []
  for (const result of results) {
    plans.push(planOf(task, result, deps.secret))
    // Hashing and searching long texts takes time; yield between them.
    await setImmediate()
  }
  const { deadline_ms: deadlineMs, max_cost_usd: most = Infinity } = task
  const pointless = new AbortController()
  const run: JudgeRun = {
    task,
    shape: verdictShape(task),
    signal: AbortSignal.any([client, pointless.signal, AbortSignal.timeout(deadlineMs)]),
    until: performance.now() + deadlineMs,
    // Without its exchange, which is that of one call only.
    stop: ({ code, message }) => pointless.abort(new JudgeFailure(code, message)),
    limits: [costBudget(most * PARTS_OF_USD), ...(organization ? [organization.daily] : [])],
    log: deps.log,
  }
  const calls = plans.flatMap(callsOf)
  if (organization && task.cache === 'use')
    await readCached(deps, organization.id, calls, run.shape)
  const open = calls.filter(({ verdict }) => !verdict)
  if (task.dry_run) return estimateAll(run, plans)
  const queue = open.values()
  const work = async () => {
    for (const call of queue) await make(call, run)
  }
  await Promise.all(Array.from({ length: task.judge.concurrency }, work))
  if (organization && task.cache !== 'off') await storeVerdicts(deps, organization.id, open)
  const outcomes = plans.map((plan) => (plan instanceof Unscorable ? plan : assess(task, plan)))
  return { outcomes, metadata: summarize(task, outcomes, calls) }
}

const callsOf = (plan: JudgePlan | Unscorable): JudgeCall[] =>
  plan instanceof Unscorable ? [] : plan.samples.flat()

/** Makes one call. Usage must be recorded, so an internal error ends only this call. */
async function make(call: JudgeCall, run: JudgeRun): Promise<void> {
  const started = performance.now()
  try {
    run.signal.throwIfAborted()
    call.verdict = await ask(run, call)
    call.latencyMs = Math.round(performance.now() - started)
  } catch (error) {
    if (error instanceof JudgeFailure) call.failure = error
    else if (error === run.signal.reason) call.failure = abortedBy(error)
    else {
      run.log.error({ err: error }, 'calling a judge failed')
      call.failure = new JudgeFailure('judge_unavailable', 'the server failed')
    }
  }
}

const abortedBy = (reason: unknown): JudgeFailure =>
  reason instanceof DOMException && reason.name === 'TimeoutError'
    ? new JudgeFailure('judge_timeout', "the request's deadline has passed")
    : new JudgeFailure('judge_unavailable', 'the request was cancelled')

/** Estimates the maximum cost without a call. */
async function estimateAll(run: JudgeRun, plans: Plans): Promise<BatchOutcome> {
  const { alias: judge, model, prices } = run.task.judge
  const total = new UsageMeter()
  const outcomes: Unscorable[] = []
  for (const plan of plans) {
    const meter = new UsageMeter()
    const open = callsOf(plan).filter(({ verdict }) => !verdict)
    // Samples are equal, so each order has one size.
    for (const same of Map.groupBy(open, ({ order }) => order).values()) {
      const usage = same[0] && requestOf(run, same[0].prompt()).most
      for (const _ of same) meter.add({ ...usage, calls: 1 })
    }
    total.add(meter)
    const metadata = { estimate: meter.report(prices) }
    const reason = 'the judge was not called'
    outcomes.push(
      plan instanceof Unscorable ? plan : new Unscorable('dry_run', reason, { metadata }),
    )
    await setImmediate()
  }
  return { outcomes, metadata: { judge, model, estimate: total.report(prices) } }
}
