import { setTimeout } from 'node:timers/promises'
import type { Deps } from '@remit/core/module'
import { JudgeFailure, post } from './post.ts'
import type { JsonForm } from './judges.ts'
import type { CallLimit, Settle } from './limits.ts'
import type { JudgeTask } from './params.ts'
import type { JudgeCall } from './plan.ts'
import { PROVIDERS } from './providers.ts'
import type { Prompt, ProviderReply } from './providers.ts'
import { mostUsage, NO_TOKENS, priceOf } from './usage.ts'
import type { Attempt } from './usage.ts'
import { verdictShape } from './verdict.ts'
import type { JudgeVerdict, VerdictShape } from './verdict.ts'

/** The state that the calls of one request share. */
export interface JudgeRun {
  readonly task: JudgeTask
  readonly log: Deps['log']
  readonly limits: readonly CallLimit[]
  readonly shape: VerdictShape
  /** Aborts at the deadline, when the client disconnects, or when further calls are pointless. */
  readonly signal: AbortSignal
  /** The deadline, on the clock of `performance.now()`. */
  readonly until: number
  /** Ends the run: no further call could succeed. Without the exchange, which is that of one call. */
  readonly stop: (failure: JudgeFailure) => void
}

/** Starts the run of a request: its deadline begins. */
export function startRun(
  shared: Pick<JudgeRun, 'task' | 'log' | 'limits'>,
  client: AbortSignal,
): JudgeRun {
  const { deadline_ms: deadlineMs } = shared.task
  const pointless = new AbortController()
  return {
    ...shared,
    shape: verdictShape(shared.task),
    signal: AbortSignal.any([client, pointless.signal, AbortSignal.timeout(deadlineMs)]),
    until: performance.now() + deadlineMs,
    stop: ({ code, message }) => pointless.abort(new JudgeFailure(code, message)),
  }
}

/** Makes one call. Usage must be recorded, so an internal error ends only this call. */
export async function makeCall(run: JudgeRun, call: JudgeCall): Promise<void> {
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

/**
 * Returns the verdict of a call. Throws `JudgeFailure`, or the reason of the run's signal. An unusable
 * answer is requested once more.
 */
async function ask(run: JudgeRun, { prompt, attempts }: JudgeCall): Promise<JudgeVerdict> {
  let fault: string | null = null
  for (let attempt = 1; attempt <= 2; attempt++) {
    const { ending, answer } = await replyTo(run, prompt(fault), attempts)
    if (ending === 'truncated')
      throw new JudgeFailure('judge_truncated', 'the judge ran out of output tokens')
    if (ending === 'refused') throw new JudgeFailure('judge_refused', 'the judge refused to answer')
    const verdict = answer === null ? 'there was none' : run.shape.read(answer)
    if (typeof verdict !== 'string') return verdict
    fault = verdict
  }
  const reason = 'the judge returned no usable verdict in two attempts'
  throw new JudgeFailure('judge_invalid_output', reason)
}

/** A response with status 200, with the retries that the task allows. */
async function replyTo(run: JudgeRun, prompt: Prompt, attempts: Attempt[]): Promise<ProviderReply> {
  const { task, until, signal, stop } = run
  const { judge } = task
  const forms = judge.structured_output
  let form = judge.acceptedForm ?? forms[0]
  for (let retry = 0; ;) {
    try {
      const reply = await exchange(run, prompt, form, attempts)
      judge.acceptedForm = form
      return reply
    } catch (error) {
      if (!(error instanceof JudgeFailure)) throw error
      const { status, isPassing, retryAfterMs = null } = error.exchange
      // Many servers lack some JSON modes of the protocol, and report it with these statuses.
      const other = judge.acceptedForm ?? forms[forms.indexOf(form) + 1]
      if ((status === 400 || status === 422) && other !== undefined && other !== form) {
        form = other
        continue
      }
      if (error.code === 'judge_unauthorized') stop(error)
      const pause = pauseBefore(retry, retryAfterMs, until - performance.now(), Math.random())
      if (!isPassing || retry >= task.max_retries || pause === null) throw error
      retry++
      await setTimeout(pause, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}

/** One exchange within the limits and the concurrency of the judge. */
async function exchange(run: JudgeRun, prompt: Prompt, form: JsonForm, attempts: Attempt[]) {
  const { task, signal, log } = run
  const { prices, provider, alias, concurrency, turns } = task.judge
  const { request, most } = requestOf(run, prompt, form)
  const reserved = priceOf(most, prices)
  const settles: Settle[] = []
  let spent: number | null = null
  const send = async (): Promise<ProviderReply> => {
    // Until known: a broken exchange may be charged.
    let usage: Attempt = null
    try {
      const reply = PROVIDERS[provider].read(await post(request, task.timeout_ms, signal))
      turns.size = Math.min(concurrency, turns.size + 1)
      usage = reply.usage
      return reply
    } catch (error) {
      const { status = 0, isFree } = error instanceof JudgeFailure ? error.exchange : {}
      if (status === 429) turns.size = Math.max(1, turns.size >> 1)
      // Probably an error in the configuration. The response is omitted: it may quote the key.
      else if (status >= 300 && status < 500)
        log.warn({ judge: alias, status }, 'a judge request was refused')
      if (isFree) usage = NO_TOKENS
      throw error
    } finally {
      attempts.push(usage)
      spent = usage ? priceOf(usage, prices) : reserved
    }
  }
  try {
    signal.throwIfAborted()
    for (const reserve of run.limits) settles.push(await reserve(reserved))
    return await turns.run(run, send, signal)
  } finally {
    for (const settle of settles) await settle(spent)
  }
}

/** The request of a call, with the maximum usage of one attempt. */
export function requestOf({ task, shape }: JudgeRun, prompt: Prompt, form: JsonForm) {
  const request = PROVIDERS[task.judge.provider].request(task, prompt, shape.schema, form)
  const bytes = Buffer.byteLength(JSON.stringify(request.body))
  return { request, most: mostUsage(bytes, task.max_output_tokens) }
}

const BASE_MS = 500
const CAP_MS = 8_000
const MOST_ASKED_MS = 30_000

/**
 * Milliseconds to wait before retry number `retry` (from 0): the requested delay, or a part `random`
 * (0 to 1) of an exponential backoff. Null to give up: more than 30 s, or past the deadline.
 */
export function pauseBefore(
  retry: number,
  retryAfterMs: number | null,
  leftMs: number,
  random: number,
): number | null {
  const pause = retryAfterMs ?? Math.min(CAP_MS, BASE_MS * 2 ** retry) * random
  return pause > MOST_ASKED_MS || pause >= leftMs ? null : pause
}
