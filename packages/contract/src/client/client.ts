import { parseJson } from '../fit/json.ts'
import type { EndpointName } from '../contract.ts'
import { RemitError } from './error.ts'
import { initOf, isRepeatable, readBase, urlOf, withRetries, withTimeLimit } from './request.ts'
import type { LooseCall } from './request.ts'
import { routes } from './routes.ts'
import type { PlainResponse, Client, ClientOptions, WithResponse } from './types.ts'
import type { Problem } from '../problem.ts'

const TIMEOUT_MS = 30_000
/** The server may hold an answer for `wait` seconds. */
const waitMs = ({ query }: LooseCall): number => Number(query?.['wait'] ?? 0) * 1000 || 0
const RETRIES = 2

const optionsOf = new WeakMap<Client, ClientOptions>()

/**
 * A typed client made from the contract; throws `RemitError` for every answer that is not a success.
 *
 * @example
 * const remit = createClient({ baseUrl: 'http://localhost:8080', key })
 * const { decision } = await remit.authorize({ body: { agent_id: 'payer', action: 'payments.transfer' } })
 */
export function createClient(options: ClientOptions): Client {
  const base = readBase(options.baseUrl)
  const client = Object.fromEntries(
    Object.entries(routes).map(([name, route]) => [
      name,
      operationOf(name as EndpointName, route, base, options),
    ]),
  ) as unknown as Client
  optionsOf.set(client, options)
  return client
}

/** The same client with other options, such as another `fetch` or no retries. */
export const withOptions = (client: Client, changed: Partial<ClientOptions>): Client =>
  createClient({ ...madeWith(client), ...changed })

/** The `fetch` that a client calls. */
export const fetchOf = (client: Client): NonNullable<ClientOptions['fetch']> =>
  madeWith(client).fetch ?? globalThis.fetch

/** The key that a client sends. */
export const keyOf = (client: Client): string => madeWith(client).key

function madeWith(client: Client): ClientOptions {
  const options = optionsOf.get(client)
  if (!options) throw new TypeError('only a client that createClient made has options')
  return options
}

function operationOf(name: EndpointName, route: string, base: string, options: ClientOptions) {
  const [method = '', path = '', media] = route.split(' ')

  /** One attempt: `read` turns a success into a result within the same time limit. */
  const attempt = <T>(
    call: LooseCall,
    read: (response: PlainResponse) => Promise<T> | T,
  ): Promise<T> => {
    const url = urlOf(base, name, path, call)
    const { fetch: given, send, timeoutMs = TIMEOUT_MS, key } = options
    const ms = call.timeoutMs ?? timeoutMs + waitMs(call)
    return withTimeLimit(ms, call.signal, async (signal) => {
      try {
        const init = initOf(method, key, call, signal)
        const response = await (given ? given(new Request(url, init)) : (send ?? fetch)(url, init))
        if (!response.ok) throw await refusalOf(response)
        return await read(response)
      } catch (error) {
        if (error instanceof RemitError) throw error
        const message = `${method} ${url.split('?', 1)[0]} failed`
        throw new RemitError({ code: 'unreachable', message, cause: error })
      }
    })
  }

  const repeated = <T>(call: LooseCall, work: () => Promise<T>): Promise<T> => {
    const retries = call.retries ?? options.retries ?? RETRIES
    if (retries === 0) return work()
    const repeatable = isRepeatable(method, call)
    return withRetries({ retries, repeatable, ...(call.signal && { signal: call.signal }) }, work)
  }

  if (media === 'text/event-stream')
    return async function* events(call: LooseCall = {}): AsyncGenerator<ServerEvent> {
      const body = await repeated(call, () => attempt(call, streamOf))
      yield* readEvents(body, call.signal)
    }

  const withResponse = async (call: LooseCall = {}): Promise<WithResponse<unknown>> =>
    repeated(call, () =>
      attempt(call, async (response) => {
        const data = await dataOf(response, media)
        const { status, headers } = response
        return { data: options.validate ? options.validate(name, data) : data, status, headers }
      }),
    )
  return Object.assign(async (call?: LooseCall) => (await withResponse(call)).data, {
    withResponse,
  })
}

const isJson = (type: string): boolean => /^application\/(?:json|.*\+json)$/.test(type)

const typeOf = ({ headers }: PlainResponse): string =>
  (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''

const unexpected = (response: PlainResponse, what: string, cause?: unknown): RemitError => {
  const { status, headers } = response
  const message = `${status} ${what}, not an answer of Remit`
  return new RemitError({ code: 'unexpected_answer', message, status, headers, cause })
}

/** The error of an answer that is not a success; of a proxy, too. */
async function refusalOf(response: PlainResponse): Promise<RemitError> {
  const { status, headers } = response
  const text = await response.text()
  const problem = isJson(typeOf(response)) ? problemOf(text) : null
  if (!problem) return unexpected(response, `with ${typeOf(response) || 'no media type'}`)
  return new RemitError({ code: problem.code, message: problem.detail, status, headers, problem })
}

function problemOf(text: string): Problem | null {
  const body = parseJson(text) as Partial<Problem> | null | undefined
  return typeof body?.code === 'string' ? (body as Problem) : null
}

/**
 * The body of a success. `media` is the type that the endpoint has where that is not JSON, `*` where it
 * has several; throws `unexpected_answer` for another one.
 */
async function dataOf(response: PlainResponse, media: string | undefined): Promise<unknown> {
  if (response.status === 204) return undefined
  const type = typeOf(response)
  const text = await response.text()
  if (isJson(type)) {
    try {
      return JSON.parse(text)
    } catch (error) {
      throw unexpected(response, 'with broken JSON', error)
    }
  }
  if (media === '*' || media === type) return text
  throw unexpected(response, `with ${type || 'no media type'}`)
}

/** The body of a stream of events; throws `unexpected_answer` for anything else. */
async function streamOf(response: PlainResponse): Promise<ReadableStream<Uint8Array>> {
  const { body } = response
  if (typeOf(response) === 'text/event-stream' && body) return body
  // An unread body keeps its connection.
  await body?.cancel()
  throw unexpected(response, `with ${typeOf(response) || 'no media type'}`)
}

/** One event of a stream, as the HTML standard defines server-sent events. */
export interface ServerEvent {
  /** `message` unless the server names it. */
  readonly event: string
  readonly data: string
  /** Of this or an earlier event; sent as `Last-Event-ID`, a new stream goes on after it. */
  readonly id: string
}

const END_OF_LINE = /\r\n|\n|\r(?!$)/

/**
 * Reads events until the server ends the stream. Leaving the loop ends the connection, and so does
 * `signal`: the loop then throws its reason.
 */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const cancel = () => void reader.cancel().catch(() => undefined)
  signal?.addEventListener('abort', cancel, { once: true })
  const decoder = new TextDecoder()
  let rest = ''
  let id = ''
  let event = ''
  let data: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal?.throwIfAborted()
      if (done) return
      const lines = (rest + decoder.decode(value, { stream: true })).split(END_OF_LINE)
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) yield { event: event || 'message', data: data.join('\n'), id }
          ;[event, data] = ['', []]
          continue
        }
        const [, field, content = ''] = /^([^:]*)(?::\x20?([^]*))?$/.exec(line) ?? []
        if (field === 'data') data.push(content)
        else if (field === 'event') event = content
        else if (field === 'id' && !content.includes('\0')) id = content
      }
    }
  } finally {
    signal?.removeEventListener('abort', cancel)
    cancel()
  }
}
