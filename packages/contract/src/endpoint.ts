import { z } from 'zod'
import type { AnswerHeader, RequestHeader } from './headers.ts'
import type { Role, Scope, Tier } from './primitives.ts'
import type { ProblemCode } from './problem.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * One row of the API: the description of an endpoint without its handler. Routing, validation, the
 * plan gate, roles, OpenAPI and the typed client are derived from it.
 */
export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Ok extends z.ZodType = z.ZodType,
> {
  readonly method: Method
  /** With `{name}` for parameters, as in OpenAPI. */
  readonly path: `/${string}`
  readonly plan: Tier
  /** Roles of ingest keys that may call it; `admin` may call every endpoint. */
  readonly roles: readonly Role[]
  /** Required scope of an agent credential; `null`: credentials may never call it. */
  readonly scope: Scope | null
  readonly summary: string
  /** Effect, limits and failure of the operation, in a few sentences of the documentation. */
  readonly text?: string
  /** Problems of this operation, in addition to those that its shape implies, such as 401. */
  readonly problems?: readonly ProblemCode[]
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** The body is the whole object: a member that it leaves out gets its default, whatever was stored. */
  readonly replaces?: true
  readonly ok: Ok
  readonly status: 200 | 201 | 202 | 204
  /** A second success status: 201 or 200 for an upsert, 201 or 202 for long work. */
  readonly alsoStatus?: 200 | 202
  /** Maximum bytes. Default: 1 MiB. */
  readonly maxBodyBytes?: number
  /** Media type of a response that is not JSON. */
  readonly produces?: 'text/plain' | 'application/x-ndjson' | 'text/event-stream'
  /** Further media types of a JSON response; the reply names its own. */
  readonly alsoProduces?: readonly string[]
  /** Further shapes of a success by name, as JSON, which the caller asks for by query or `Accept`. */
  readonly also?: Readonly<Record<string, z.ZodType>>
  /** Request headers that it reads, in addition to those that its method and response imply. */
  readonly takes?: readonly RequestHeader[]
  /** Response headers of a success, in addition to the common ones. */
  readonly sends?: readonly AnswerHeader[]
  /** Maximum seconds until the response starts. Default: 30. */
  readonly maxSeconds?: number
  /**
   * The handler submits its work to the organization's writer, which checks the caller's key again
   * inside the transaction; so the key may come from the cache.
   */
  readonly viaWriter?: true
  /** Needs no key, and returns no data of an organization, unless it is for operators. */
  readonly public?: true
  /** Also for a suspended organization, although it writes: it proves or ends something. */
  readonly whileSuspended?: true
  /** Needs the key of an operator, which is no key of an organization. */
  readonly operator?: true
  /**
   * Implements a protocol that is less strict than this API: unknown fields are ignored, and a
   * wrong media type is 400, like every other invalid request (AuthZEN 1.0, OAuth 2.0).
   */
  readonly lenient?: true
  /**
   * For OAuth clients: also accepts `application/x-www-form-urlencoded`, each field once, as a string.
   * Errors are `application/json` with the members of RFC 6749 §5.2 in addition to those of a problem.
   */
  readonly form?: true
  /**
   * A request without a key is accepted without a caller, always or if an organization has
   * `keyless_exchange`; an invalid key is still rejected.
   */
  readonly keyless?: 'always' | 'by_setting'
  /** Credentials need no scope: the response contains nothing but the caller itself. */
  readonly anyPrincipal?: true
  /** Refuses requests that a page of another origin sent, also where no cookie is sent. */
  readonly sameOrigin?: true
  /** Field of the response that is shown once and omitted from a repeat. */
  readonly secretField?: string
  /** Field of the response that a repeat also has; stored encrypted. */
  readonly sealedField?: string
}

/** The defaults of a row: administrators only, no agent credentials, status 200. */
const DEFAULTS = { roles: [], scope: null, status: 200 } as const
/** The defaults of a row without `ok`. */
const NO_CONTENT = { ...DEFAULTS, status: 204, ok: z.void() } as const

type Defaults<D> = D extends { readonly ok: z.ZodType } ? typeof DEFAULTS : typeof NO_CONTENT
type Definition = Omit<Endpoint, 'method' | 'path' | keyof typeof NO_CONTENT> &
  Partial<Pick<Endpoint, keyof typeof NO_CONTENT>>

type Row<M extends Method, P extends `/${string}`, D extends Definition> = {
  readonly method: M
  readonly path: P
} & Omit<Defaults<D>, keyof D> &
  D

/** Returns an endpoint with its literal and zod types; `route`: `GET /v1/policies/{policyID}`. */
export function endpoint<M extends Method, P extends `/${string}`, const D extends Definition>(
  route: `${M} ${P}`,
  definition: D,
): Row<M, P, D> {
  const [method, path] = route.split(' ') as [M, P]
  const defaults = (definition.ok ? DEFAULTS : NO_CONTENT) as Defaults<D>
  return { method, path, ...defaults, ...definition }
}

type Parsed<T, Fallback> = T extends z.ZodType ? z.output<T> : Fallback
type Sent<T, Fallback> = T extends z.ZodType ? z.input<T> : Fallback

/** The input of a handler, after validation. */
export interface Input<E extends Endpoint> {
  readonly params: Parsed<E['params'], Record<never, never>>
  readonly query: Parsed<E['query'], Record<never, never>>
  readonly body: Parsed<E['body'], undefined>
}

/** The arguments of a client call. */
export interface Call<E extends Endpoint> {
  readonly params: Sent<E['params'], Record<never, never>>
  readonly query: Sent<E['query'], Record<never, never>>
  readonly body: Sent<E['body'], undefined>
}

type Also<E extends Endpoint> = E extends {
  readonly also: infer Shapes extends Readonly<Record<string, z.ZodType>>
}
  ? Shapes[keyof Shapes]
  : never

/** The body of a successful response, in one of its shapes. */
export type Answer<E extends Endpoint> = z.input<E['ok'] | Also<E>>

/** The body of a further shape of a successful response; never for an endpoint without one. */
export type AlsoAnswer<E extends Endpoint> = z.output<Also<E>>
