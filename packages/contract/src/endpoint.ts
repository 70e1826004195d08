import type { z } from 'zod'
import type { AnswerHeader, RequestHeader } from './headers.ts'
import type { Role, Scope, Tier } from './primitives.ts'

/**
 * One row of the API: everything about an endpoint that is not its behaviour. Routing, validation,
 * the plan gate, roles, OpenAPI and the typed client are derived from it.
 */
export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Ok extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With `{name}` for parameters, as OpenAPI writes them. */
  readonly path: `/${string}`
  readonly plan: Tier
  /** Roles of ingest keys that may call it; `admin` always may. */
  readonly roles: readonly Role[]
  /** Scope that an agent credential needs; `null` = credentials may never call it. */
  readonly scope: Scope | null
  readonly summary: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly ok: Ok
  readonly status: 200 | 201 | 204
  /** A second success status: an upsert answers 201 or 200, what takes long 201 or 202. */
  readonly alsoStatus?: 200 | 202
  /** Bytes; 1 MiB unless stated. */
  readonly maxBodyBytes?: number
  /** Media type of the answer where it is not JSON. */
  readonly produces?: 'text/plain' | 'application/x-ndjson' | 'text/event-stream'
  /** Further media types of an answer in JSON; a reply names the one it has. */
  readonly alsoProduces?: readonly string[]
  /** What else an answer in JSON can be, where somebody else's standard says its shape. */
  readonly alsoJson?: string
  /** Request headers that it reads, beside those that its method and its answer imply. */
  readonly takes?: readonly RequestHeader[]
  /** Headers of a success, beside those that every answer has. */
  readonly sends?: readonly AnswerHeader[]
  /** Seconds until the answer must begin, where an endpoint holds it; 30 unless stated. */
  readonly maxSeconds?: number
  /**
   * The handler hands its work to the organization's writer, which checks the caller's key again
   * inside the transaction; so the key may come from memory before it.
   */
  readonly viaWriter?: true
  /** Answered without a key, and so without anything of an organization. */
  readonly public?: true
  /**
   * Speaks a protocol that wants what this API refuses elsewhere: fields that nobody knows are ignored,
   * and a wrong media type is 400, like every other fault of a request (AuthZEN 1.0, OAuth 2.0).
   */
  readonly lenient?: true
  /** Takes `application/x-www-form-urlencoded` too, as OAuth clients send it; each field once, each a string. */
  readonly form?: true
  /** A request without a key is let through, from nobody; one with a bad key is refused all the same. */
  readonly keyless?: true
  /** Refusals are `application/json` with the members of RFC 6749 §5.2 beside those of a problem. */
  readonly oauth?: true
  /** Field of the answer that is shown once and left out of an idempotent repeat. */
  readonly secretField?: string
  /** Field of the answer that an idempotent repeat has too, and that is encrypted until then. */
  readonly sealedField?: string
}

/** Keeps the literal and zod types of one endpoint. */
export const endpoint = <
  const Params extends z.ZodType,
  const Query extends z.ZodType,
  const Body extends z.ZodType,
  const Ok extends z.ZodType,
  const E extends Endpoint<Params, Query, Body, Ok>,
>(
  definition: E & Endpoint<Params, Query, Body, Ok>,
): E => definition

type Parsed<T, Fallback> = T extends z.ZodType ? z.output<T> : Fallback
type Sent<T, Fallback> = T extends z.ZodType ? z.input<T> : Fallback

/** What a handler receives for an endpoint, after validation. */
export interface Input<E extends Endpoint> {
  readonly params: Parsed<E['params'], Record<never, never>>
  readonly query: Parsed<E['query'], Record<never, never>>
  readonly body: Parsed<E['body'], undefined>
}

/** What a client passes to call an endpoint. */
export interface Call<E extends Endpoint> {
  readonly params: Sent<E['params'], Record<never, never>>
  readonly query: Sent<E['query'], Record<never, never>>
  readonly body: Sent<E['body'], undefined>
}

/** The body of a successful answer. */
export type Answer<E extends Endpoint> = z.input<E['ok']>
