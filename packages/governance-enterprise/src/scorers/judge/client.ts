import { setTimeout } from 'node:timers/promises'
import type { Deps } from '@remit/core'
import type { CostBudget } from './budget.ts'
import type { CountedCall, DayLimit } from './day-limit.ts'
import { JudgeFailure, pauseBefore } from './failure.ts'
import { CallGate } from './gate.ts'
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
  /** Aborts at the deadline, when the client disconnects, or when further calls are pointless. */
  readonly signal: AbortSignal
  /** Milliseconds until the deadline. */
  left(): number
  /** Ends the run: no further call could succeed. */
  stop(failure: JudgeFailure): void
  readonly budget: CostBudget | null
  /** The limit of the organization; null for a run without one. */
  readonly day: DayLimit | null
}

/** A question to a judge. */
export interface JudgeQuery {
  readonly task: JudgeTask
  readonly prompt: Prompt
  readonly shape: VerdictShape
}

const requestOf = ({ task, prompt, shape }: JudgeQuery, form: JsonForm): ProviderRequest =>
  providerOf(task.judge).request(task, prompt, shape.schema, form)

const mostOf = ({ body }: ProviderRequest, { max_output_tokens: most }: JudgeTask): TokenUsage =>
  mostUsage(Buffer.byteLength(JSON.stringify(body)), most)

/** The maximum usage of one call, without retries. */
export const estimate = (query: JudgeQuery): TokenUsage =>
  mostOf(requestOf(query, query.task.judge.structured_output[0] ?? 'json_schema'), query.task)

/** Calls judges within their concurrency, with retries, until the run ends. */
export class JudgeClient {
  readonly #log: Deps['log']
  readonly #gates = new Map<string, CallGate>()
  /** The accepted JSON form of each judge. */
  readonly #forms = new Map<string, JsonForm>()

  constructor(log: Deps['log']) {
    this.#log = log
  }

  /**
   * Returns one verdict and adds its usage to `meter`. Throws `JudgeFailure`, or the reason of the
   * run's signal. An unusable answer is requested once more.
   */
  async ask(query: JudgeQuery, run: JudgeRun, meter: UsageMeter): Promise<JudgeVerdict> {
    let { prompt } = query
    for (let isLast = false; ; isLast = true) {
      const { ending, answer } = await this.#reply({ ...query, prompt }, run, meter)
      if (ending === 'truncated')
        throw new JudgeFailure('judge_truncated', 'the judge ran out of output tokens')
      if (ending === 'refused')
        throw new JudgeFailure('judge_refused', 'the judge refused to answer')
      const verdict = answer === null ? 'there was none' : query.shape.read(answer)
      if (typeof verdict !== 'string') return verdict
      if (isLast)
        throw new JudgeFailure(
          'judge_invalid_output',
          'the judge returned no usable verdict in two attempts',
        )
      prompt = repaired(query.prompt, verdict)
    }
  }

  /** A response with status 200, with the retries that the task allows. */
  async #reply(query: JudgeQuery, run: JudgeRun, meter: UsageMeter): Promise<ProviderReply> {
    const { max_retries: maxRetries, judge } = query.task
    const { structured_output: forms, alias } = judge
    let form = this.#forms.get(alias) ?? forms[0] ?? 'json_schema'
    for (let retry = 0; ;) {
      try {
        const reply = await this.#call(query, form, run, meter)
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
        const pause = pauseBefore(retry, retryAfterMs, run.left(), Math.random())
        if (!isPassing || retry >= maxRetries || pause === null) throw error
        retry++
        await setTimeout(pause, undefined, { signal: run.signal }).catch(() =>
          run.signal.throwIfAborted(),
        )
      }
    }
  }

  /** One HTTP exchange, within the concurrency and the limits. */
  async #call(
    query: JudgeQuery,
    form: JsonForm,
    run: JudgeRun,
    meter: UsageMeter,
  ): Promise<ProviderReply> {
    const { task } = query
    run.signal.throwIfAborted()
    const request = requestOf(query, form)
    const reserved = priceOf(mostOf(request, task), task.judge.prices)
    await run.budget?.reserve(reserved)
    let counted: CountedCall | undefined
    let spent = 0
    let isSent = false
    try {
      counted = await run.day?.take(reserved)
      const gate = this.#gateOf(task.judge)
      await gate.enter(run, run.signal)
      isSent = true
      try {
        // Until known: a broken exchange may be charged.
        spent = reserved
        meter.calls++
        const reply = providerOf(task.judge).read(await post(request, task.timeout_ms, run.signal))
        gate.grow()
        if (!reply.usage) meter.unmetered++
        else spent = meter.add(reply.usage, task.judge.prices)
        return reply
      } catch (error) {
        const { status = null, isUnsent } = error instanceof JudgeFailure ? error.exchange : {}
        if (status === 429) gate.shrink()
        if (status !== null) this.#report(task.judge, status)
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

  #gateOf({ alias, concurrency }: Judge): CallGate {
    const gate = this.#gates.get(alias) ?? new CallGate(concurrency)
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
