import type { Answer, Endpoint, Input } from '@remit/contract'
import type { Caller } from '../caller/caller.ts'
import type { Claim } from '../idempotency/claim.ts'
import type { Reply } from './reply.ts'

/** What a handler knows of the request beside its input. */
export interface RequestInfo {
  readonly requestId: string
  /** The claim of an `Idempotency-Key`; the writer keeps it in the transaction of its work. */
  readonly claim: Claim | null
  /** The caller wants the signed note of its commit (`Prefer: receipt`). */
  readonly wantsNote: boolean
  readonly accept: string
  /** The address that was asked, with the host that the client named. */
  url(): string
  /** A further header of the request, by its lower-case name. */
  header(name: string): string | undefined
  /** Ends when the client has gone or the server closes: what waits must not outlast it. */
  signal(): AbortSignal
  /**
   * Counts `more` requests against the caller's rate limit, where this one stands for several. Throws
   * `rate_limited` where the caller has used it up.
   */
  charge(more: number): Promise<void>
  /** Throws the refusal of a caller whose key, plan or role has changed since the request came in. */
  recheck(): Promise<void>
}

/** Nobody where an endpoint takes no key; perhaps nobody where it needs none. */
type CallerOf<E extends Endpoint> = E extends { readonly public: true }
  ? null
  : E extends { readonly keyless: true }
    ? Caller | null
    : Caller

export type Handler<E extends Endpoint> = (
  input: Input<E>,
  caller: CallerOf<E>,
  request: RequestInfo,
) => Promise<Answer<E> | Reply<Answer<E>>>

/** An endpoint with its behaviour, ready to mount. */
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

/** Binds every endpoint of a contract group to its handler; a missing or misspelt one does not compile. */
export const implement = <G extends Group>(
  group: G,
  handlers: NoInfer<{ readonly [K in keyof G]: Handler<G[K]> }>,
): Route[] =>
  Object.entries(group).map(([name, endpoint]) => ({
    name,
    endpoint,
    handle: handlers[name as keyof G] as unknown as Route['handle'],
  }))
