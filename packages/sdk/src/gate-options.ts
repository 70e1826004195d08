import type { Client } from '@remit/contract/client'
import type { ApprovalMode } from './decide.ts'
import type { ToolMap } from './mapping.ts'
import type { Allow } from './verdict.ts'

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

export type CallOptions = Pick<ToolCall, 'callId' | 'signal' | 'traceparent'>
