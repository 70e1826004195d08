import type { Answer, Endpoint, Input } from '@remit/contract'
import type { Caller } from '../caller/caller.ts'
import type { IdempotencyClaim } from '../idempotency/claim.ts'
import type { Span, TraceParent } from '../telemetry/tracing.ts'

/** Data of the request for a handler, in addition to its input. */
export interface RequestInfo {
  readonly requestId: string
  /** Null without a key. */
  readonly caller: Caller | null
  /** A suspended organization may do this. */
  readonly whileSuspended: boolean
  /** The name of the operator's key; only of endpoints for operators. */
  readonly operator: string | null
  /** The claim of an `Idempotency-Key`; the writer stores it in the transaction of its work. */
  readonly claim: IdempotencyClaim | null
  /** The caller requests the signed note of its commit (`Prefer: receipt`). */
  readonly wantsNote: boolean
  /** The `traceparent` of the caller. */
  readonly trace: TraceParent | null
  /** The operation, if it is sampled. */
  readonly span: Span | null
  readonly accept: string
  /** Returns the URL of the request, with the host that the client named. */
  url(): string
  /** Returns a further request header by its lower-case name. */
  header(name: string): string | undefined
  /** Returns the address of the client's connection, where it is known. */
  address(): string | undefined
  /** Returns a signal that aborts when the client disconnects or the server closes. */
  signal(): AbortSignal
  /**
   * Takes a turn of the organization for one part of a request that counts as several; undefined if the
   * part may start at once. Parts take their turns in the order of the calls.
   */
  turn(): Promise<void> | undefined
  /**
   * Charges `more` additional requests to the rate limit of the caller, if this request counts as
   * several. Throws `rate_limited`.
   */
  charge(more: number): Promise<void>
  /**
   * Throws the refusal of a caller whose key, plan or role has changed since the request arrived.
   */
  recheck(): Promise<void>
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
  request: RequestInfo,
) => Promise<Answer<E> | Reply<Answer<E>>>

/** An endpoint with its handler, ready to mount. */
export interface Route {
  readonly name: string
  readonly endpoint: Endpoint
  /** The caller is null only where the endpoint takes requests without a key. */
  readonly handle: (
    input: Input<Endpoint>,
    caller: Caller | null,
    request: RequestInfo,
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
export class Reply<Body> {
  readonly body: Body | Written | ReadableStream<Uint8Array>
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  /** False for an answer that a repeat under the same `Idempotency-Key` must not get. */
  readonly isKept: boolean
  constructor(
    body: Body | Written | ReadableStream<Uint8Array>,
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
