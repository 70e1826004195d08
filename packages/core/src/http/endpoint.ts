import type { Answer, Endpoint, Input } from '@remit/contract'
import type { Context } from 'hono'
import type { IncomingMessage } from 'node:http'
import type { Caller } from '../caller/caller.ts'
import type { IdempotencyClaim } from '../idempotency/claim.ts'
import type { WorkOrigin } from '../ledger/write/work.ts'
import { parseTraceparent } from '../telemetry/tracing.ts'
import type { Span, TraceParent } from '../telemetry/tracing.ts'
import type { Admission } from './admit.ts'
import type { Body } from './body.ts'
import { addressOf, headerOf } from './header.ts'
import type { RequestTurns } from './limits.ts'

/** The state of a request to an endpoint, as Hono's context carries it. */
export interface RequestEnv {
  Bindings: {
    /** Node's request, where the server runs on a socket. */
    incoming?: IncomingMessage
  }
  Variables: {
    route: Route
    requestId: string
    /** Absent unless the request is sampled. */
    span?: Span
    /** Absent where the request needs no key. */
    admission?: Admission
    /** The name of the operator's key. */
    operator?: string
    /** The body, where authentication had to read it; its failure is not reported yet. */
    earlyBody?: Promise<Uint8Array>
    body?: Body
    /** The claim of an `Idempotency-Key`. */
    claim?: IdempotencyClaim
  }
}

/** The owner of requests that need no key. */
export const NOBODY = ''

const PREFERS_RECEIPT = /(?:^|[,;\s])receipt(?:$|[,;\s])/i

/** The parts of the server that a request uses. */
export interface ApiRequestDeps {
  readonly requests: RequestTurns
  /** Ends when the server closes. */
  readonly closing: AbortSignal
}

/**
 * A request as its handler sees it, in addition to its input; the origin of the work that it submits to
 * the writer.
 */
export class ApiRequest<C extends Caller | null = Caller | null> implements WorkOrigin<C> {
  readonly requestId: string
  /** Null without a key. */
  readonly caller: C
  /** The name of the operator's key; only of endpoints for operators. */
  readonly operator: string | null
  readonly whileSuspended: boolean
  readonly claim: IdempotencyClaim | null
  readonly wantsNote: boolean
  readonly trace: TraceParent | null
  readonly span: Span | null
  readonly #c: Context<RequestEnv>
  readonly #deps: ApiRequestDeps

  constructor(c: Context<RequestEnv>, caller: C, deps: ApiRequestDeps) {
    const parent = headerOf(c, 'traceparent')
    this.requestId = c.get('requestId')
    this.caller = caller
    this.operator = c.get('operator') ?? null
    this.whileSuspended = c.get('route').endpoint.whileSuspended === true
    this.claim = c.get('claim') ?? null
    this.wantsNote = PREFERS_RECEIPT.test(headerOf(c, 'prefer') ?? '')
    this.trace = parent === undefined ? null : parseTraceparent(parent)
    this.span = c.get('span') ?? null
    this.#c = c
    this.#deps = deps
  }

  /** Returns the URL of the request, with the host that the client named. */
  url(): string {
    return this.#c.req.url
  }

  /** Returns a request header by its lower-case name. */
  header(name: string): string | undefined {
    return headerOf(this.#c, name)
  }

  /** Returns the address of the client's connection, where it is known. */
  address(): string | undefined {
    return addressOf(this.#c)
  }

  /** Returns a signal that aborts when the client disconnects or the server closes. */
  signal(): AbortSignal {
    return AbortSignal.any([this.#c.req.raw.signal, this.#deps.closing])
  }

  /**
   * Takes a turn of the organization for one part of a request that counts as several; undefined if the
   * part may start at once. Parts take their turns in the order of the calls.
   */
  turn(): Promise<void> | undefined {
    return this.#deps.requests.take(this.caller?.orgId ?? NOBODY)
  }

  /**
   * Charges `more` additional requests to the rate limit of the caller, if this request counts as
   * several. Throws `rate_limited`.
   */
  async charge(more: number): Promise<void> {
    await this.#c.get('admission')?.charge(more)
  }

  /** Throws the refusal of a caller whose key, plan or role has changed since the request arrived. */
  async recheck(): Promise<void> {
    await this.#c.get('admission')?.recheck()
  }
}

/** Null for an endpoint without keys; possibly null if the key is optional. */
type CallerOf<E extends Endpoint> = E extends { readonly public: true }
  ? null
  : E extends { readonly keyless: string }
    ? Caller | null
    : Caller

export type Handler<E extends Endpoint> = (
  input: Input<E>,
  caller: CallerOf<E>,
  request: ApiRequest<CallerOf<E>>,
) => Promise<Answer<E> | Reply<Answer<E>>>

/** An endpoint with its handler, ready to mount. */
export interface Route {
  readonly name: string
  readonly endpoint: Endpoint
  /** The caller is null only where the endpoint takes requests without a key. */
  readonly handle: (
    input: Input<Endpoint>,
    caller: Caller | null,
    request: ApiRequest,
  ) => Promise<unknown>
}

type Group = Readonly<Record<string, Endpoint>>

/**
 * Binds every endpoint of a contract group to its handler; a missing or misspelt one does not
 * compile.
 */
export const implement = <G extends Group>(
  group: G,
  handlers: NoInfer<{ readonly [K in keyof G]: Handler<G[K]> }>,
): Route[] =>
  Object.entries(group).map(([name, endpoint]) => ({
    name,
    endpoint,
    handle: handlers[name as keyof G] as unknown as Route['handle'],
  }))

/** A body in its final text, in the media type that its reply names. */
export class Written {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A successful response that is more than a body: another status, headers or a stream. */
export class Reply<Value> {
  readonly body: Value | Written | ReadableStream<Uint8Array>
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  /** False for an answer that a repeat under the same `Idempotency-Key` must not get. */
  readonly isKept: boolean
  constructor(
    body: Value | Written | ReadableStream<Uint8Array>,
    options: { status?: number; headers?: Record<string, string>; isKept?: boolean } = {},
  ) {
    this.body = body
    this.status = options.status
    this.headers = options.headers ?? {}
    this.isKept = options.isKept ?? true
  }
}

/** An answer as it is sent. */
export interface Rendered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | ReadableStream<Uint8Array> | null
}

const PLAIN = { status: undefined, headers: {} as Readonly<Record<string, string>> }

/** A handler's reply in the media type of the endpoint. */
export function render(endpoint: Endpoint, reply: unknown): Rendered {
  const { body, status, headers } =
    reply instanceof Reply ? (reply as Reply<unknown>) : { ...PLAIN, body: reply }
  const code = status ?? endpoint.status
  if (code === 204) return { status: 204, headers, body: null }
  if (body instanceof Written) return { status: code, headers, body: body.text }
  if (!endpoint.produces || headers['Content-Type'] === 'application/json') {
    return {
      status: code,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }
  }
  const text = { 'Content-Type': `${endpoint.produces}; charset=utf-8`, ...headers }
  return { status: code, headers: text, body: body as string | ReadableStream<Uint8Array> }
}
