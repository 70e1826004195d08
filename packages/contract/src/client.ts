import type { z } from 'zod'
import { contract } from './contract.ts'
import type { Contract, EndpointName } from './contract.ts'
import type { Call, Endpoint } from './endpoint.ts'
import type { Problem } from './problem.ts'

/** An answer that was not a success; `problem` is the body of RFC 9457. */
export class RemitError extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(`${problem.code}: ${problem.detail}`)
    this.name = 'RemitError'
    this.problem = problem
  }
}

/** Parameters as a caller may write them: a number stands for its digits. */
type Loose<T> = { readonly [K in keyof T]: string extends T[K] ? T[K] | number : T[K] }

interface Parts<E extends Endpoint> {
  readonly params: Loose<Call<E>['params']>
  readonly query: Loose<Call<E>['query']>
  readonly body: Call<E>['body']
}

/** What cannot be left out: a body where there is one, and parameters that are not all optional. */
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
type Options<E extends Endpoint> = Partial<Parts<E>> &
  Needed<Parts<E>> & { readonly headers?: Record<string, string> }

/** Where an endpoint has several media types, a caller may have asked for another than JSON. */
const isJson = ({ headers }: Response): boolean =>
  /^application\/(?:json|.*\+json)\s*(?:;|$)/i.test(headers.get('content-type') ?? '')

/** One function an endpoint: `client.authorize({ body: { agent_id, action } })`. */
export type Client = {
  readonly [K in EndpointName]: (call: Options<Contract[K]>) => Promise<z.output<Contract[K]['ok']>>
}

export interface ClientOptions {
  /** Such as `http://localhost:8080`. */
  readonly baseUrl: string
  readonly key: string
  readonly fetch?: (request: Request) => Promise<Response>
}

interface LooseCall {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * A typed client made from the contract; throws `RemitError` for every answer that is not a success.
 *
 * @example
 * const remit = createClient({ baseUrl: 'http://localhost:8080', key })
 * const { decision } = await remit.authorize({ body: { agent_id: 'payer', action: 'payments.transfer' } })
 */
export function createClient({ baseUrl, key, fetch = globalThis.fetch }: ClientOptions): Client {
  const call = async (endpoint: Endpoint, options: LooseCall) => {
    const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(options.params?.[name])),
    )
    const url = new URL(path, baseUrl)
    for (const [name, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    const response = await fetch(
      new Request(url, {
        method: endpoint.method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(options.body !== undefined && { 'content-type': 'application/json' }),
          ...options.headers,
        },
        ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
      }),
    )
    if (!response.ok) throw new RemitError((await response.json()) as Problem)
    if (response.status === 204) return undefined
    const isText = endpoint.produces ?? !isJson(response)
    return isText ? response.text() : response.json()
  }
  return Object.fromEntries(
    Object.entries(contract).map(([name, endpoint]) => [
      name,
      (options: object) => call(endpoint, options),
    ]),
  ) as unknown as Client
}
