import type { z } from 'zod'
import type { Contract, EndpointName } from '../contract.ts'
import type { AlsoAnswer, Call, Endpoint } from '../endpoint.ts'
import type { Validating } from '../validation.ts'
import type { ServerEvent } from './client.ts'
import type { LooseCall } from './request.ts'

/** Parameters as a caller may write them: a number stands for its digits. */
type Loose<T> = {
  readonly [K in keyof T]: string extends T[K] ? T[K] | number : T[K]
}

interface Parts<E extends Endpoint> {
  readonly params: Loose<Call<E>['params']>
  readonly query: Loose<Call<E>['query']>
  readonly body: Call<E>['body']
}

/** Required members of a call: a body or parameters with a required member. */
type Needed<T> = {
  readonly [
    K in keyof T as undefined extends T[K]
      ? never
      : K extends 'body'
        ? K
        : Record<never, never> extends T[K]
          ? never
          : K
  ]: T[K]
}

type Common = Omit<LooseCall, keyof Parts<Endpoint>>

/** The arguments of a call. */
export type Options<E extends Endpoint> = Partial<Parts<E>> & Needed<Parts<E>> & Common

/** Nothing needs to be given where nothing is needed. */
type Arguments<E extends Endpoint> =
  Record<never, never> extends Options<E> ? [call?: Options<E>] : [call: Options<E>]

/** An answer with its status and headers. */
export interface WithResponse<T> {
  readonly data: T
  readonly status: number
  readonly headers: Headers
}

interface Operation<E extends Endpoint> {
  (...call: Arguments<E>): Promise<z.output<E['ok']>>
  /** The same, with the status and the headers of the answer. */
  withResponse(...call: Arguments<E>): Promise<WithResponse<z.output<E['ok']>>>
}

/** The part of a call that asks for a further shape of the answer: `Accept`, else the query. */
type Asking<E extends Endpoint> = E extends { readonly produces: string } ? 'headers' : 'query'
type Validation<E extends Endpoint> = E extends { readonly query: typeof Validating }
  ? { readonly query: { readonly validate: 'true' } } & Options<E>
  : never
type Plain<E extends Endpoint> = E extends { readonly query: typeof Validating }
  ? Omit<Options<E>, 'query'> & { readonly query?: { readonly validate?: 'false' } }
  : Omit<Options<E>, Asking<E>> & { readonly [K in Asking<E>]?: undefined }

/**
 * An endpoint with further shapes of a success: the answer is one of them where the call can ask for
 * another one.
 */
interface Alternatives<E extends Endpoint> {
  (call: Validation<E>): Promise<AlsoAnswer<E>>
  (
    ...call: Record<never, never> extends Plain<E> ? [call?: Plain<E>] : [call: Plain<E>]
  ): Promise<z.output<E['ok']>>
  (...call: Arguments<E>): Promise<z.output<E['ok']> | AlsoAnswer<E>>
  withResponse(...call: Arguments<E>): Promise<WithResponse<z.output<E['ok']> | AlsoAnswer<E>>>
}

type Stream<E extends Endpoint> = (...call: Arguments<E>) => AsyncGenerator<ServerEvent>

type ClientOf<E extends Endpoint> = E extends { readonly produces: 'text/event-stream' }
  ? Stream<E>
  : E extends { readonly also: object }
    ? Alternatives<E>
    : Operation<E>

/** One function an endpoint: `client.authorize({ body: { agent_id, action } })`. */
export type Client = { readonly [K in EndpointName]: ClientOf<Contract[K]> }

/** The body of an endpoint that replaces an object, with every member that has a default. */
export type WholeBody<E extends { readonly body: z.ZodType; readonly replaces: true }> = z.output<
  E['body']
>

type Whole<E extends Endpoint> = E extends { readonly body: z.ZodType; readonly replaces: true }
  ? Omit<E, 'body'> & { readonly body: z.ZodType<WholeBody<E>, WholeBody<E>> }
  : E

/** A client that replaces objects by whole bodies only: a caller that forgets a member does not compile. */
export type WholeClient = { readonly [K in EndpointName]: ClientOf<Whole<Contract[K]>> }

/** The parts of a response that the client reads. */
export type PlainResponse = Pick<Response, 'ok' | 'status' | 'headers' | 'body'> & {
  text(): Promise<string>
}

export interface ClientOptions {
  /** Such as `http://localhost:8080`; a path is a prefix of all endpoints. */
  readonly baseUrl: string
  /** An ingest key or an agent's credential. */
  readonly key: string
  /** Milliseconds for one attempt; 30,000 unless given. */
  readonly timeoutMs?: number
  /**
   * Further attempts after transient failures; 2 unless given. GET and POST with an `idempotencyKey` are
   * repeated, others only after 429.
   */
  readonly retries?: number
  readonly fetch?: (request: Request) => Promise<Response>
  /** Sends in the place of `fetch`, with less work for each request. Redirects must not be followed. */
  readonly send?: (url: string, init: RequestInit) => Promise<PlainResponse>
  /** Checks the body of each success: `validateAnswer` of `@remit/contract`, which loads zod. */
  readonly validate?: (name: EndpointName, data: unknown) => unknown
}
