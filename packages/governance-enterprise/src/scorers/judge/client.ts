import { setTimeout } from 'node:timers/promises'
import type { Deps } from '@remit/core'
import type { CostBudget } from './budget.ts'
import type { DayLimit } from './day-limit.ts'
import { JudgeFailure, pauseBefore } from './failure.ts'
import { Gate } from './gate.ts'
import type { JsonForm, Judge } from './judges.ts'
import type { JudgeTask } from './params.ts'
import { post } from './post.ts'
import { repaired } from './prompt.ts'
import type { Prompt } from './prompt.ts'
import { providerOf } from './providers.ts'
import type { ProviderReply, ProviderRequest } from './providers.ts'
import { mostUsage, priceOf } from './usage.ts'
import type { TokenUsage, UsageMeter } from './usage.ts'
import type { JudgeVerdict, VerdictShape } from './verdict.ts'

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

export interface JudgeQuery {
  readonly task: JudgeTask
  readonly prompt: Prompt
  readonly shape: VerdictShape
}

export interface JudgeCall extends JudgeQuery {
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

const requestOf = ({ task, prompt, shape }: JudgeQuery, form: JsonForm): ProviderRequest =>
  providerOf(task.judge).request({ task, prompt, schema: shape.schema, form })

const mostOf = ({ body }: ProviderRequest, { max_output_tokens: most }: JudgeTask): TokenUsage =>
  mostUsage(Buffer.byteLength(JSON.stringify(body)), most)

/** The maximum usage of one call, without retries. */
export const estimate = (query: JudgeQuery): TokenUsage =>
  mostOf(requestOf(query, query.task.judge.forms[0] ?? 'json_schema'), query.task)

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
  async ask(call: JudgeCall): Promise<JudgeAnswer> {
    const started = performance.now()
    const running: RunningCall = { ...call, attempts: 0 }
    for (let isLast = false; ; isLast = true) {
      const reply = await this.#reply(running)
      if (reply.ending === 'truncated')
        throw new JudgeFailure('judge_truncated', 'the judge ran out of output tokens')
      if (reply.ending === 'refused')
        throw new JudgeFailure('judge_refused', 'the judge refused to answer')
      const verdict = reply.answer === null ? 'there was none' : call.shape.read(reply.answer)
      if (typeof verdict !== 'string') {
        const latencyMs = Math.round(performance.now() - started)
        return { verdict, attempt: running.attempts, latencyMs }
      }
      if (isLast)
        throw new JudgeFailure(
          'judge_invalid_output',
          'the judge returned no usable verdict in two attempts',
        )
      running.prompt = repaired(call.prompt, verdict)
    }
  }

  /** A response with status 200, with the retries that the task allows. */
  async #reply(call: RunningCall): Promise<ProviderReply> {
    const { task, run } = call
    const { forms, alias } = task.judge
    let form = this.#forms.get(alias) ?? forms[0] ?? 'json_schema'
    for (let retry = 0; ;) {
      try {
        const reply = await this.#call(call, form)
        this.#forms.set(alias, form)
        return reply
      } catch (error) {
        if (!(error instanceof JudgeFailure)) throw error
        const { status, isPassing = false, retryAfterMs = null } = error.exchange
        // Many servers lack some JSON modes of the protocol, and report it with these statuses.
        const other = this.#forms.get(alias) ?? forms[forms.indexOf(form) + 1]
        if ((status === 400 || status === 422) && other !== undefined && other !== form) {
          form = other
          continue
        }
        if (error.code === 'judge_unauthorized') run.stop(error)
        const pause = pauseBefore(retry, retryAfterMs, run.left(), this.#random())
        if (!isPassing || retry >= task.max_retries || pause === null) throw error
        retry++
        await setTimeout(pause, undefined, { signal: run.signal }).catch(() =>
          run.signal.throwIfAborted(),
        )
      }
    }
  }

  /** One HTTP exchange, within the concurrency and the budget. */
  async #call(call: RunningCall, form: JsonForm): Promise<ProviderReply> {
    const { task, run, meter } = call
    const { judge } = task
    run.signal.throwIfAborted()
    const request = requestOf(call, form)
    const reserved = judge.prices ? priceOf(mostOf(request, task), judge.prices) : 0
    await run.budget?.reserve(reserved)
    let spent = 0
    let isSent = false
    const gate = this.#gateOf(judge)
    const counted = await run.day?.take(reserved).catch((error: unknown) => {
      run.budget?.settle(reserved, 0)
      throw error
    })
    try {
      await gate.enter(run, run.signal)
      isSent = true
      // Until known: a broken exchange may be charged.
      spent = reserved
      try {
        meter.calls++
        call.attempts++
        const reply = providerOf(judge).read(await post(request, task.timeout_ms, run.signal))
        gate.grow()
        if (!reply.usage) meter.unmetered++
        else {
          meter.add(reply.usage, judge.prices)
          spent = judge.prices ? priceOf(reply.usage, judge.prices) : 0
        }
        return reply
      } catch (error) {
        const { status = null, isUnsent = false } =
          error instanceof JudgeFailure ? error.exchange : {}
        if (status === 429) gate.shrink()
        if (status !== null) this.#report(judge, status)
        if (status !== null || isUnsent) spent = 0
        else meter.unmetered++
        throw error
      } finally {
        gate.leave()
      }
    } finally {
      run.budget?.settle(reserved, spent)
      if (counted) await run.day?.settle(counted, spent, isSent)
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
  #report({ alias: judge }: Judge, status: number): void {
    if (status >= 300 && status < 500 && status !== 429)
      this.#log.warn({ judge, status }, 'a judge request was refused')
  }
}
