import type { Endpoint } from '@remit/contract'

/** A successful response that is more than a body: another status, headers or a stream. */
export class Reply<Body> {
  readonly body: Body | ReadableStream<Uint8Array>
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  /** False for an answer that a repeat under the same `Idempotency-Key` must not get. */
  readonly isKept: boolean
  constructor(
    body: Body | ReadableStream<Uint8Array>,
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
  // A reply that names its own media type brings its text as it is to be sent.
  if (!endpoint.produces && typeof body === 'string' && headers['Content-Type'] !== undefined) {
    return { status: code, headers, body }
  }
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
