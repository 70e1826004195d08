import type { Client } from '@remit/contract/client'
import { canonical, digestOf } from '@remit/contract/fit'
import { Calls } from './calls.ts'
import { alreadyDecided, decide } from './decide.ts'
import type { ApprovalMode, Prepared } from './decide.ts'
import { randomId } from './ids.ts'
import { NotExecuted, RemitDenied, RemitPending } from './errors.ts'
import { decisionKey } from './key.ts'
import { requestFor } from './mapping.ts'
import type { ToolMap } from './mapping.ts'
import { driveWrapped, runSelfTest } from './self-test.ts'
import type { Drive, SelfTestReport } from './self-test.ts'
import { reportGap, settle } from './settle.ts'
import type { Outcome, Settlement } from './settle.ts'
import { deny } from './verdict.ts'
import type { Allow, Deny, Pending, Verdict } from './verdict.ts'

export interface GateOptions {
  readonly client: Client
  /** May be left out where the client has a credential of the agent. */
  readonly agentId?: string
  /** One run of the agent; random unless given. With the same id, a restarted run repeats no call. */
  readonly runId?: string
  /** Waits up to 4 minutes unless given. */
  readonly approval?: ApprovalMode
  readonly map?: ToolMap
  /** Milliseconds for a decision with all attempts; 10,000 unless given. */
  readonly timeoutMs?: number
  /** Further attempts within that time; 3 unless given. */
  readonly retries?: number
  /** Returns whether a tool that threw this had no effect, so that its hold can be released. */
  readonly releaseOn?: (error: unknown) => boolean
  /** Receives each warning about a decided call once. Default: `console.warn`. */
  readonly onWarning?: (message: string) => void
}

/** One call of a tool by an agent. */
export interface ToolCall {
  readonly tool: string
  readonly input: unknown
  /** Of the host, the same in every attempt; random unless given. */
  readonly callId?: string
  /** Ends the wait for a verdict; `check` rejects with its reason. */
  readonly signal?: AbortSignal
  /** W3C Trace Context, passed on. */
  readonly traceparent?: string
}

export interface Ran<T> {
  readonly kind: 'ran'
  readonly result: T
  readonly verdict: Allow
}

export interface RunOptions<Input, Result> {
  /** The actual cost in USD; without it, the amount held is settled. */
  readonly costOf?: (result: Result, input: Input) => number
  /** Returns true for a result that reports an error: its hold stays, as after a throw. */
  readonly isFailure?: (result: Result) => boolean
}

export interface WrapOptions<Input, Result> extends RunOptions<Input, Result> {
  /** `return` returns the verdict where the default throws `RemitDenied` or `RemitPending`. */
  readonly onDeny?: 'throw' | 'return'
}

type CallOptions = Pick<ToolCall, 'callId' | 'signal' | 'traceparent'>

const WAIT: ApprovalMode = { mode: 'wait', maxMs: 240_000 }
const TIMEOUT_MS = 10_000
const RETRIES = 3

/** The gate in front of an agent's tools: see `createGate`. */
export class Gate {
  readonly options: GateOptions
  readonly runId: string
  readonly #calls = new Calls()
  readonly #warned = new Set<string>()

  constructor(options: GateOptions) {
    this.options = options
    this.runId = options.runId ?? randomId()
  }

  /**
   * The verdict on a call, recorded in the ledger. Never an allow unless Remit said so: what fails is a
   * deny. Rejects only with the reason of `signal`.
   */
  async check(call: ToolCall): Promise<Verdict> {
    return (await this.#check(call)).verdict
  }

  /**
   * Checks a call and takes its one execution, for hosts that run the tool themselves. After an allow the
   * call is denied from then on; report its outcome with `settle`.
   */
  async admit(call: ToolCall): Promise<Verdict> {
    const { verdict, prepared } = await this.#check(call)
    if (verdict.kind !== 'allow') return verdict
    const { callId, decisionId } = verdict
    // Minutes may lie between the question and the answer.
    if (verdict.approvalId !== null && !(await this.#isUnchanged(call, callId, prepared)))
      return deny(callId, 'input_changed', 'The input changed after its approval.', decisionId)
    return this.#calls.take(verdict) ? verdict : alreadyDecided(callId, decisionId)
  }

  /** Checks a call, runs it at most once, and reports its outcome. The tool's error passes through. */
  async run<T>(
    call: ToolCall,
    execute: () => T | Promise<T>,
    { costOf, isFailure }: RunOptions<unknown, T> = {},
  ): Promise<Ran<T> | Deny | Pending> {
    const verdict = await this.admit(call)
    if (verdict.kind !== 'allow') return verdict
    let result: T
    try {
      result = await execute()
    } catch (error) {
      await this.settle(verdict, this.#outcomeOf(error))
      throw error
    }
    const isFailed = isFailure?.(result) === true
    const cost = () => costOf?.(result, call.input)
    await this.settle(verdict, isFailed ? { outcome: 'failure' } : this.#cost(cost))
    return { kind: 'ran', result, verdict }
  }

  /** Reports the outcome of an allowed call and ends its hold. Never throws. */
  settle(verdict: Allow, outcome: Outcome = {}): Promise<Settlement> {
    return settle(this.#settler, verdict, outcome)
  }

  /** Reports a call that ran without an allow: an entry `enforcement.gap`. */
  reportGap(call: ToolCall, outcome: 'success' | 'failure' | 'unknown'): Promise<void> {
    const { tool: action, callId = randomId() } = call
    return reportGap(this.#settler, { action, callId, outcome })
  }

  /**
   * A tool that asks first: checks, runs, settles.
   *
   * @example
   * const transfer = gate.wrap('payments.transfer', (input: Transfer) => bank.transfer(input))
   * await transfer({ amount_usd: 40, to: 'ACME' }, { callId })
   */
  wrap<Input, Result>(
    tool: string,
    execute: (input: Input) => Result | Promise<Result>,
    options: WrapOptions<Input, Result> & { readonly onDeny: 'return' },
  ): (input: Input, call?: CallOptions) => Promise<Result | Deny | Pending>
  wrap<Input, Result>(
    tool: string,
    execute: (input: Input) => Result | Promise<Result>,
    options?: WrapOptions<Input, Result>,
  ): (input: Input, call?: CallOptions) => Promise<Result>
  wrap<Input, Result>(
    tool: string,
    execute: (input: Input) => Result | Promise<Result>,
    { onDeny = 'throw', costOf }: WrapOptions<Input, Result> = {},
  ) {
    return async (input: Input, call: CallOptions = {}): Promise<Result | Deny | Pending> => {
      const cost = costOf && { costOf: (result: Result) => costOf(result, input) }
      const done = await this.run({ ...call, tool, input }, () => execute(input), cost)
      if (done.kind === 'ran') return done.result
      if (onDeny === 'return') return done
      throw done.kind === 'deny' ? new RemitDenied(done) : new RemitPending(done)
    }
  }

  /**
   * Proves that a deny blocks: lets a host's loop call a canary tool through the gate. The loop is that of
   * a wrapped tool unless an adapter gives another.
   */
  selfTest(drive: Drive = driveWrapped): Promise<SelfTestReport> {
    return runSelfTest(this, drive)
  }

  /** The same run with other options and none of this gate's memory, as after a restart. */
  with(changed: Partial<GateOptions>): Gate {
    return new Gate({ ...this.options, runId: this.runId, ...changed })
  }

  get #settler() {
    const { client, agentId } = this.options
    return { client, agentId, warn: (message: string) => this.#warn(message) }
  }

  async #check(call: ToolCall): Promise<{ verdict: Verdict; prepared: Prepared | null }> {
    const { callId = randomId(), signal, traceparent } = call
    const { client, approval = WAIT, timeoutMs = TIMEOUT_MS, retries = RETRIES } = this.options
    signal?.throwIfAborted()
    const prepared = await this.#prepare(call, callId)
    if (prepared instanceof Error)
      return { verdict: deny(callId, 'unmappable', prepared.message), prepared: null }
    const key = await decisionKey(prepared.step, null)
    const limits = {
      key,
      approval,
      timeoutMs,
      retries,
      ...(traceparent !== undefined && { traceparent }),
    }
    const verdict = await this.#calls.verdict(key, signal, (ended) =>
      decide(client, prepared, { ...limits, signal: ended }),
    )
    return { verdict: verdict ?? alreadyDecided(callId, null), prepared }
  }

  async #prepare({ tool, input }: ToolCall, call: string): Promise<Prepared | Error> {
    const { agentId, map } = this.options
    try {
      const request = await requestFor(agentId, map, tool, input)
      const text = canonical(request)
      const hash = await digestOf(text)
      const step = { agent: agentId ?? null, run: this.runId, call, request: hash }
      return { request, text, step }
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  async #isUnchanged(call: ToolCall, callId: string, before: Prepared | null): Promise<boolean> {
    const now = await this.#prepare(call, callId)
    return !(now instanceof Error) && now.step.request === before?.step.request
  }

  #outcomeOf(error: unknown): Outcome {
    const { releaseOn } = this.options
    if (error instanceof NotExecuted || releaseOn?.(error) === true)
      return { outcome: 'failure', release: true }
    const name = error instanceof Error ? error.name : ''
    return { outcome: /^(Abort|Timeout)Error$/.test(name) ? 'unknown' : 'failure' }
  }

  /** The tool has run: a cost that cannot be told must not look as if it had not. */
  #cost(costOf: () => number | undefined): Outcome {
    try {
      const costUsd = costOf()
      return costUsd === undefined ? {} : { costUsd }
    } catch (error) {
      this.#warn(`costOf failed, and the amount held was settled: ${String(error)}`)
      return {}
    }
  }

  #warn(message: string): void {
    if (this.#warned.size >= 100 || this.#warned.has(message)) return
    this.#warned.add(message)
    // The one place to be heard without a logger.
    if (this.options.onWarning) this.options.onWarning(message)
    else console.warn(`remit: ${message}`)
  }
}

/**
 * A gate in front of the tools of one agent run.
 *
 * @example
 * const client = createClient({ baseUrl: 'http://localhost:8080', key })
 * const gate = createGate({ client, agentId: 'payer' })
 * const transfer = gate.wrap('payments.transfer', (input: Transfer) => bank.transfer(input))
 */
export const createGate = (options: GateOptions): Gate => new Gate(options)
