import type { Answer, Endpoint, Input } from '@remit/contract'
import type { Caller } from '../caller/caller.ts'
import type { IdempotencyClaim } from '../idempotency/claim.ts'
import type { Span, TraceParent } from '../telemetry/tracing.ts'
import type { Reply } from './reply.ts'

/** Data of the request for a handler, in addition to its input. */
export interface RequestInfo {
  readonly requestId: string
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
