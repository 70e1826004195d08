import { keyOf } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import { canonical, digestOf, omittedDigest } from '@remit/contract/fit'
import type { OmittedDigest } from '@remit/contract/fit'
import { alreadyDecided, checkApproval, decide } from './decide.ts'
import type { ApprovalMode, StepRequest } from './decide.ts'
import { randomId, decisionKey } from './key.ts'
import { NotExecuted, RemitDenied, RemitPending, deny } from './errors.ts'
import type { Allow, Deny, Pending, Verdict } from './errors.ts'
import { checkMap, requestFor, nameOf } from './mapping.ts'
import type { ToolMap } from './mapping.ts'
import { driveWrapped, runSelfTest } from './self-test.ts'
import type { Drive, SelfTestReport } from './self-test.ts'
import { reportGap, settle } from './settle.ts'
import type { Outcome, Settlement } from './settle.ts'
import { isUnchanged, snapshot } from './snapshot.ts'

const WAIT: ApprovalMode = { mode: 'wait', maxMs: 240_000 }
const TIMEOUT_MS = 10_000
const RETRIES = 3
const MIN_SECRET = 32

/** A call with the input that is decided, and its verdict. */
interface Checked {
  readonly verdict: Verdict
  readonly input: unknown
  readonly prepared: StepRequest | null
}

/** The gate in front of an agent's tools: see `createGate`. */
export class Gate {
  readonly options: GateOptions
  readonly runId: string
  readonly #calls = new Calls()
  readonly #warned = new Set<string>()
  readonly #digest: OmittedDigest

  constructor(options: GateOptions) {
    const { client, runId, approval, map, omitKey } = options
    if (approval) checkApproval(approval)
    if (map) checkMap(map)
    if (omitKey !== undefined && omitKey.length < MIN_SECRET)
      throw new TypeError(`omitKey must have at least ${MIN_SECRET} characters`)
    this.options = options
    this.runId = runId ?? randomId()
    let digest: OmittedDigest | undefined
    this.#digest = (...member) => (digest ??= omittedDigest(omitKey ?? keyOf(client)))(...member)
  }

  /**
   * The verdict on a call, recorded in the ledger. Never an allow unless Remit said so: what fails is a
   * deny. Rejects only with the reason of `signal`.
   */
  async check(call: ToolCall): Promise<Verdict> {
    return (await this.#check(call, typeof this.options.map !== 'function')).verdict
  }

  /**
   * Checks a call and takes its one execution, for hosts that run the tool themselves. After an allow the
   * call is denied from then on; report its outcome with `settle`.
   */
  async admit(call: ToolCall): Promise<Verdict> {
    const checked = await this.#check(call, typeof this.options.map !== 'function')
    const { verdict, input, prepared } = checked
    if (verdict.kind !== 'allow') return verdict
    const { callId, approvalId } = verdict
    // A function may map what nobody can copy. Minutes may lie between the question and the answer.
    const isMapped = input === call.input && approvalId !== null
    const again = isMapped ? await this.#prepare(call.tool, input, callId) : prepared
    if (again instanceof Error || again?.step.request !== prepared?.step.request)
      return inputChanged(verdict)
    return this.#take(checked, call.input)
  }

  /**
   * Checks a call, runs it at most once, and reports its outcome. The tool's error passes through. `execute`
   * receives the input that was decided, a copy; if it uses another one, such as the input in `call`, that must not
   * change meanwhile: the call is denied if it does.
   */
  run<T>(
    call: ToolCall,
    execute: (input: never) => T | Promise<T>,
    options: RunOptions<unknown, T> = {},
  ): Promise<Ran<T> | Deny | Pending> {
    return this.#run(call, execute, options, () => call.input)
  }

  async #run<T>(
    call: ToolCall,
    execute: (input: never) => T | Promise<T>,
    { costOf, isFailure }: RunOptions<unknown, T>,
    used: (decided: unknown) => unknown,
  ): Promise<Ran<T> | Deny | Pending> {
    const checked = await this.#check(call, true)
    const { input } = checked
    const verdict = this.#take(checked, used(input))
    if (verdict.kind !== 'allow') return verdict
    let result: T
    try {
      result = await execute(input as never)
    } catch (error) {
      await this.settle(verdict, this.#outcomeOf(error))
      throw error
    }
    const isFailed = this.#told('isFailure', () => isFailure?.(result)) === true
    const cost = () => costOf?.(result, input)
    await this.settle(verdict, isFailed ? { outcome: 'failure' } : this.#cost(cost))
    return { kind: 'ran', result, verdict }
  }

  /** Reports the outcome of an allowed call and ends its hold. Never throws; another verdict has none. */
  settle(verdict: Verdict, outcome: Outcome = {}): Promise<Settlement> {
    return settle(this.#settler, verdict, outcome)
  }

  /** Reports a call that ran without an allow: an entry `enforcement.gap`. */
  reportGap(call: ToolCall, outcome: 'success' | 'failure' | 'unknown'): Promise<void> {
    const { tool: action, callId = randomId() } = call
    return reportGap(this.#settler, { action, callId, outcome })
  }

  /**
   * A tool that asks first: checks, runs, settles. It receives the input that was decided, a copy.
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
    { onDeny = 'throw', costOf, isFailure }: WrapOptions<Input, Result> = {},
  ) {
    this.assertTool(tool)
    const options = { ...(costOf && { costOf }), ...(isFailure && { isFailure }) }
    return async (input: Input, call: CallOptions = {}): Promise<Result | Deny | Pending> => {
      const asked = { ...call, tool, input }
      const done = await this.#run(asked, execute, options as RunOptions<unknown, Result>, same)
      if (done.kind === 'ran') return done.result
      if (onDeny === 'return') return done
      throw done.kind === 'deny' ? new RemitDenied(done) : new RemitPending(done)
    }
  }

  /** Throws a `TypeError` for the name of a tool whose calls would all be denied. */
  assertTool(tool: string): void {
    if (typeof this.options.map === 'function') return
    try {
      nameOf(tool, `the tool ${JSON.stringify(tool)}`)
    } catch (error) {
      throw new TypeError((error as Error).message, { cause: error })
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

  async #check(call: ToolCall, isCopied: boolean): Promise<Checked> {
    const { tool, callId = randomId(), signal, traceparent } = call
    const { client, approval = WAIT, timeoutMs = TIMEOUT_MS, retries = RETRIES } = this.options
    signal?.throwIfAborted()
    let input: unknown
    let prepared: StepRequest | Error
    try {
      input = isCopied ? snapshot(call.input) : call.input
      prepared = await this.#prepare(tool, input, callId)
    } catch (error) {
      prepared = asError(error)
    }
    if (prepared instanceof Error)
      return { verdict: deny(callId, 'unmappable', prepared.message), input, prepared: null }
    const ready = prepared
    const key = await decisionKey(ready.step, null)
    const limits = {
      key,
      approval,
      timeoutMs,
      retries,
      ...(traceparent !== undefined && { traceparent }),
    }
    const verdict = await this.#calls.verdict(key, signal, (ended) =>
      decide(client, ready, { ...limits, signal: ended }),
    )
    return { verdict: verdict ?? alreadyDecided(callId, null), input, prepared }
  }

  /** The one execution of an allowed call, if `used` is still what was decided. Without a pause before it. */
  #take({ verdict, input }: Checked, used: unknown): Verdict {
    if (verdict.kind !== 'allow') return verdict
    if (used !== input && !isUnchanged(input, used)) return inputChanged(verdict)
    return this.#calls.take(verdict) ? verdict : alreadyDecided(verdict.callId, verdict.decisionId)
  }

  async #prepare(tool: string, input: unknown, call: string): Promise<StepRequest | Error> {
    const { agentId, map } = this.options
    try {
      const settings = { ...(agentId !== undefined && { agentId }), ...(map && { map }) }
      const request = await requestFor({ ...settings, digest: this.#digest }, tool, input)
      const text = canonical(request)
      const hash = await digestOf(text)
      const step = { agent: agentId ?? null, run: this.runId, call, request: hash }
      return { request, text, step }
    } catch (error) {
      return asError(error)
    }
  }

  #outcomeOf(error: unknown): Outcome {
    const { releaseOn } = this.options
    if (error instanceof NotExecuted || this.#told('releaseOn', () => releaseOn?.(error)) === true)
      return { outcome: 'failure', release: true }
    const name = error instanceof Error ? error.name : ''
    return { outcome: /^(Abort|Timeout)Error$/.test(name) ? 'unknown' : 'failure' }
  }

  /** A cost of any type: `settle` judges it. */
  #cost(costOf: () => unknown): Outcome {
    const costUsd = this.#told('costOf', costOf)
    // Of a promise, nobody else hears that it fails.
    if (costUsd instanceof Promise) costUsd.catch(() => undefined)
    return costUsd === undefined ? {} : { costUsd: costUsd as number }
  }

  /** The tool has run: a question of its owner that fails must not look as if it had not. */
  #told<T>(name: string, question: () => T): T | undefined {
    try {
      return question()
    } catch (error) {
      this.#warn(`${name} failed, and its answer was left out: ${textOf(error)}`)
      return undefined
    }
  }

  #warn(message: string): void {
    if (this.#warned.size >= 100 || this.#warned.has(message)) return
    this.#warned.add(message)
    try {
      // The one place to be heard without a logger.
      if (this.options.onWarning) this.options.onWarning(message)
      else console.warn(`remit: ${message}`)
    } catch {
      // A warning must not end what it is about.
    }
  }
}

const same = (decided: unknown): unknown => decided

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error))

const textOf = (error: unknown): string => (error instanceof Error ? error.message : typeof error)

const inputChanged = ({ callId, decisionId }: Allow): Deny =>
  deny(callId, 'input_changed', 'The input changed after it was decided.', decisionId)

/**
 * A gate in front of the tools of one agent run.
 *
 * @example
 * const client = createClient({ baseUrl: 'http://localhost:8080', key })
 * const gate = createGate({ client, agentId: 'payer' })
 * const transfer = gate.wrap('payments.transfer', (input: Transfer) => bank.transfer(input))
 */
export const createGate = (options: GateOptions): Gate => new Gate(options)

/** Decisions of this process that are kept at least; an older one is known to the server. */
const KEPT = 1_000

interface Call {
  readonly verdict: Promise<Verdict>
  /** Null where the first caller cannot abort: the question then has somebody who waits to the end. */
  readonly controller: AbortController | null
  waiting: number
  isTaken: boolean
}

/**
 * One decision per call: hosts often have two hooks for one call, and two questions would hold money
 * twice. Who asks while a question is open shares it; an allow is given out until it is taken, once.
 */
class Calls {
  #calls = new Map<string, Call>()
  /** The calls before those; a map that loses its oldest member at each call becomes slow. */
  #earlier = new Map<string, Call>()
  readonly #allowed = new WeakMap<Allow, Call>()

  /** The verdict for a key; null where its allow has been taken. */
  async verdict(
    key: string,
    signal: AbortSignal | undefined,
    ask: (signal: AbortSignal | undefined) => Promise<Verdict>,
  ): Promise<Verdict | null> {
    signal?.throwIfAborted()
    const known = this.#calls.get(key) ?? this.#earlier.get(key)
    if (known?.isTaken === true) return null
    const call = known ?? this.#begin(key, signal ? new AbortController() : null, ask)
    call.waiting++
    try {
      return await untilAborted(call.verdict, signal)
    } finally {
      // The question ends when nobody waits for it any more.
      if (--call.waiting === 0 && signal?.aborted === true) {
        call.controller?.abort(signal.reason)
        this.#forget(key, call)
      }
    }
  }

  /** Takes an allow for its one execution; false if it was taken before. */
  take(allow: Allow): boolean {
    const call = this.#allowed.get(allow)
    if (!call || call.isTaken) return false
    call.isTaken = true
    return true
  }

  #begin(
    key: string,
    controller: AbortController | null,
    ask: (signal: AbortSignal | undefined) => Promise<Verdict>,
  ): Call {
    const verdict = ask(controller?.signal).then(
      (decided) => {
        if (decided.kind === 'allow') this.#allowed.set(decided, call)
        else this.#forget(key, call)
        return decided
      },
      (error: unknown) => {
        this.#forget(key, call)
        throw error
      },
    )
    const call: Call = { verdict, controller, waiting: 0, isTaken: false }
    if (this.#calls.size === KEPT) {
      this.#earlier = this.#calls
      this.#calls = new Map()
    }
    this.#calls.set(key, call)
    return call
  }

  #forget(key: string, call: Call): void {
    for (const calls of [this.#calls, this.#earlier]) if (calls.get(key) === call) calls.delete(key)
  }
}

/** Settles as `promise` does, or rejects with the signal's reason before it. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  const aborted = Symbol('aborted')
  let end = (): void => undefined
  const ended = new Promise<typeof aborted>((resolve) => {
    end = () => resolve(aborted)
  })
  signal.addEventListener('abort', end, { once: true })
  try {
    const result = await Promise.race([promise, ended])
    if (result === aborted) throw signal.reason
    return result
  } finally {
    signal.removeEventListener('abort', end)
  }
}

export interface GateOptions {
  readonly client: Client
  /** May be left out where the client has a credential of the agent. */
  readonly agentId?: string
  /** One run of the agent; random unless given. With the same id, a restarted run repeats no call. */
  readonly runId?: string
  /** Waits up to 4 minutes unless given. */
  readonly approval?: ApprovalMode
  readonly map?: ToolMap
  /**
   * Secret of at least 32 characters for the digests of omitted members; the key of the client unless given.
   * Needed where that key is renewed: with another one, an approval does not count.
   */
  readonly omitKey?: string
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
  /** The actual cost in USD; without it, or with another value, the amount held is settled. */
  readonly costOf?: (result: Result, input: Input) => number
  /** Returns true for a result that reports an error: its hold stays, as after a throw. */
  readonly isFailure?: (result: Result) => boolean
}

export interface WrapOptions<Input, Result> extends RunOptions<Input, Result> {
  /** `return` returns the verdict where the default throws `RemitDenied` or `RemitPending`. */
  readonly onDeny?: 'throw' | 'return'
}

type CallOptions = Pick<ToolCall, 'callId' | 'signal' | 'traceparent'>
