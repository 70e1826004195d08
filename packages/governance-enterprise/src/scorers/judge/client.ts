import { setTimeout } from 'node:timers/promises'
import type { Deps } from '@remit/core'
import type { CostBudget } from './budget.ts'
import type { DayLimit, CountedCall } from './day-limit.ts'
import { JudgeFailure } from './failure.ts'
import { Gate } from './gate.ts'
import type { JsonForm, Judge } from './judges.ts'
import { failureOf, needsOtherForm } from './outcome.ts'
import { post, PostFailure } from './post.ts'
import type { HttpAnswer } from './post.ts'
import { repaired } from './prompt.ts'
import type { Prompt } from './prompt.ts'
import { pauseBefore } from './retry.ts'
import type { JudgeTask } from './task.ts'
import { mostUsage, priceOf } from './usage.ts'
import type { UsageMeter, TokenUsage } from './usage.ts'
import type { JudgeVerdict, VerdictShape } from './verdict.ts'
import { wireOf } from './wire.ts'
import type { ProviderReply, WireRequest } from './wire.ts'

/** The shared state of the calls of one request. */
export interface JudgeRun {
  /**
   * Aborts at the deadline, when the client disconnects, or when further calls are pointless; its
   * reason is a `JudgeFailure`.
   */
  readonly signal: AbortSignal
  /** Milliseconds until the deadline. */
  left(): number
  /** Ends the run: no further call could succeed. */
  stop(failure: JudgeFailure): void
  readonly budget: CostBudget | null
  /** The limit of the organization; null for a run without one. */
  readonly day: DayLimit | null
}

export interface JudgeCall {
  readonly task: JudgeTask
  readonly prompt: Prompt
  readonly shape: VerdictShape
  readonly run: JudgeRun
  readonly meter: UsageMeter
}

/** A running question with its number of calls. */
interface RunningCall extends JudgeCall {
  prompt: Prompt
  attempts: number
}

export interface JudgeAnswer {
  readonly verdict: JudgeVerdict
  /** The number of calls. */
  readonly attempt: number
  readonly latencyMs: number
}

const mostOf = ({ body }: WireRequest, { maxOutputTokens }: JudgeTask): TokenUsage =>
  mostUsage(Buffer.byteLength(JSON.stringify(body)), maxOutputTokens)

/** The maximum usage of one call, without retries. */
export function estimate({
  task,
  prompt,
  shape,
}: Pick<JudgeCall, 'task' | 'prompt' | 'shape'>): TokenUsage {
  const [form = 'json_schema'] = task.judge.forms
  return mostOf(wireOf(task.judge).request({ task, prompt, schema: shape.schema, form }), task)
}

/** Calls judges within their concurrency, with retries, until the run ends. */
export class JudgeClient {
  readonly #log: Deps['log']
  readonly #random: () => number
  readonly #gates = new Map<string, Gate>()
  /** The accepted JSON form of each judge. */
  readonly #forms = new Map<string, JsonForm>()

  constructor(log: Deps['log'], random: () => number = Math.random) {
    this.#log = log
    this.#random = random
  }

  /** Returns one verdict. Throws `JudgeFailure`. An unusable answer is requested once more. */
  async ask(asking: JudgeCall): Promise<JudgeAnswer> {
    const started = performance.now()
    const underway: RunningCall = { ...asking, attempts: 0 }
    for (let isLast = false; ; isLast = true) {
      const reply = await this.#reply(underway)
      if (reply.ending === 'truncated')
        throw new JudgeFailure('judge_truncated', 'the judge ran out of output tokens')
      if (reply.ending === 'refused')
        throw new JudgeFailure('judge_refused', 'the judge refused to answer')
      const verdict = reply.answer === null ? 'there was none' : asking.shape.read(reply.answer)
      if (typeof verdict !== 'string') {
        const latencyMs = Math.round(performance.now() - started)
        return { verdict, attempt: underway.attempts, latencyMs }
      }
      if (isLast)
        throw new JudgeFailure(
          'judge_invalid_output',
          'the judge returned no usable verdict in two attempts',
        )
      underway.prompt = repaired(asking.prompt, verdict)
    }
  }

  /** A response with status 200, with the retries that the task allows. */
  async #reply(asking: RunningCall): Promise<ProviderReply> {
    const { task, run } = asking
    const { forms, alias } = task.judge
    let form = this.#forms.get(alias) ?? forms[0] ?? 'json_schema'
    for (let retry = 0; ;) {
      const answer = await this.#call(asking, form)
      if (!(answer instanceof PostFailure) && answer.status === 200) {
        this.#forms.set(alias, form)
        return wireOf(task.judge).read(answer.body)
      }
      const known = this.#forms.get(alias)
      const other = known === undefined ? forms[forms.indexOf(form) + 1] : known
      if (needsOtherForm(answer) && other !== undefined && other !== form) {
        form = other
        continue
      }
      const { failure, isPassing, retryAfterMs } = failureOf(answer)
      if (failure.code === 'judge_unauthorized') run.stop(failure)
      const pause = pauseBefore(retry, retryAfterMs, run.left(), this.#random())
      if (!isPassing || retry >= task.maxRetries || pause === null) throw failure
      retry++
      await setTimeout(pause, undefined, { signal: run.signal }).catch(() =>
        run.signal.throwIfAborted(),
      )
    }
  }

  /** One HTTP exchange, within the concurrency and the budget. */
  async #call(asking: RunningCall, form: JsonForm): Promise<HttpAnswer | PostFailure> {
    const { task, prompt, shape, run, meter } = asking
    const { judge } = task
    run.signal.throwIfAborted()
    const wire = wireOf(judge)
    const request = wire.request({ task, prompt, schema: shape.schema, form })
    const most = mostOf(request, task)
    const reserved = judge.prices ? priceOf(most, judge.prices) : 0
    await run.budget?.reserve(reserved)
    let spent = 0
    let isSent = false
    const gate = this.#gateOf(judge)
    const taken = await this.#take(run, reserved)
    try {
      await gate.enter(run, run.signal)
      isSent = true
      // Until known: a broken exchange may be charged.
      spent = reserved
      try {
        meter.calls++
        asking.attempts++
        const answer = await post(request, task.timeoutMs, run.signal)
        if (answer.status === 429) gate.shrink()
        else if (answer.status === 200) gate.grow()
        const usage = answer.status === 200 ? wire.read(answer.body).usage : null
        if (usage) meter.add(usage, judge.prices)
        if (answer.status === 200 && !usage) meter.unmetered++
        else spent = usage && judge.prices ? priceOf(usage, judge.prices) : 0
        this.#tell(judge, answer)
        return answer
      } catch (error) {
        if (error instanceof PostFailure && error.code === 'unreachable') spent = 0
        else meter.unmetered++
        if (error instanceof PostFailure) return error
        throw error
      } finally {
        gate.leave()
      }
    } finally {
      run.budget?.settle(reserved, spent)
      if (taken) await run.day?.settle(taken, spent, isSent)
    }
  }

  /** Counts the call against the organization's daily limit; releases the budget if it is refused. */
  async #take(run: JudgeRun, reserved: number): Promise<CountedCall | null> {
    try {
      return (await run.day?.take(reserved)) ?? null
    } catch (error) {
      run.budget?.settle(reserved, 0)
      throw error
    }
  }

  #gateOf({ alias, concurrency }: Judge): Gate {
    const gate = this.#gates.get(alias) ?? new Gate(concurrency)
    this.#gates.set(alias, gate)
    return gate
  }

  /**
   * Logs a probable configuration error for the operator. The response is omitted, since it may
   * quote the key.
   */
  #tell({ alias: judge }: Judge, { status }: HttpAnswer): void {
    if (status >= 300 && status < 500 && status !== 429)
      this.#log.warn({ judge, status }, 'a judge request was refused')
  }
}
