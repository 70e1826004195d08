import http from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'

export interface Address {
  readonly address: string
  readonly family: number
}

export interface OutboundRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
}

export interface OutboundResponse {
  readonly status: number
  /** Lower case, without parameters; empty where there is none. */
  readonly contentType: string
  readonly body: Uint8Array
}

export interface CheckedTarget {
  readonly url: URL
  /** The only addresses to connect to. */
  readonly addresses: readonly Address[]
  readonly ending: OutboundDeadlines
}

interface Exchange extends CheckedTarget {
  readonly request: OutboundRequest
  readonly ca: string | undefined
}

const MAX_RESPONSE_BYTES = 256 * 1024
const MAX_HEADER_BYTES = 16 * 1024

/** Sends a request to one of the given addresses and reads the answer, both within their limits. */
export async function exchange({
  url,
  addresses,
  request,
  ending,
  ca,
}: Exchange): Promise<OutboundResponse> {
  const send = url.protocol === 'https:' ? https.request : http.request
  const outgoing = send(url, {
    method: request.method,
    headers: { 'user-agent': 'Remit', ...request.headers, 'accept-encoding': 'identity' },
    // A connection of its own: one that is kept could be older than the look-up.
    agent: false,
    lookup: handOut(addresses),
    maxHeaderSize: MAX_HEADER_BYTES,
    // Regardless of `NODE_TLS_REJECT_UNAUTHORIZED`.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(ca !== undefined && { ca }),
    signal: ending.signal,
  })
  const progress = watch(outgoing, url.protocol, addresses, ending)
  try {
    const response = await answerTo(outgoing, request.body)
    return await read(response)
  } catch (error) {
    if (ending.signal.aborted) throw ending.signal.reason
    throw error instanceof OutboundError ? error : progress.failure()
  } finally {
    outgoing.destroy()
  }
}

/** A look-up that knows its answer. */
export const handOut =
  (addresses: readonly Address[]): LookupFunction =>
  (_host, { all }, callback) => {
    const [first] = addresses
    if (all) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family ?? 0)
  }

/** Follows the connection: checks whom it reached, ends the wait for it, and tells what a failure means. */
function watch(
  outgoing: ClientRequest,
  protocol: string,
  addresses: readonly Address[],
  ending: OutboundDeadlines,
) {
  let phase: 'connection_failed' | 'tls_failed' | 'response_broken' = 'connection_failed'
  const ready = () => {
    phase = 'response_broken'
    ending.connected()
  }
  outgoing.on('socket', (socket) => {
    socket.once('connect', () => {
      if (!addresses.some(({ address }) => address === socket.remoteAddress)) {
        socket.destroy(
          new OutboundError(
            'address_refused',
            'the connection reached a different address than the resolved one',
          ),
        )
      } else if (protocol === 'https:') phase = 'tls_failed'
      else ready()
    })
    socket.once('secureConnect', ready)
  })
  const sentences = {
    connection_failed: 'the connection to the host failed',
    tls_failed: 'the TLS certificate of the host is not trusted or TLS failed',
    response_broken: 'the response is incomplete or not HTTP',
  }
  return { failure: () => new OutboundError(phase, sentences[phase]) }
}

function answerTo(
  outgoing: ClientRequest,
  body: string | Uint8Array | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve)
    // More than one error may come; the first has answered.
    outgoing.on('error', reject)
    // Also without an error: an upgrade that nobody asked for.
    outgoing.once('close', () => reject(new Error('closed')))
    outgoing.end(body)
  })
}

async function read(response: IncomingMessage): Promise<OutboundResponse> {
  const { statusCode = 0, headers } = response
  if (statusCode >= 300 && statusCode < 400)
    throw new OutboundError('redirected', `the host responded with status ${statusCode}`)
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding !== '' && encoding !== 'identity')
    throw new OutboundError(
      'content_encoded',
      'the response has a Content-Encoding that was not requested',
    )
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MAX_RESPONSE_BYTES)
      throw new OutboundError('response_too_large', `more than ${MAX_RESPONSE_BYTES} bytes`)
    chunks.push(chunk)
  }
  const contentType = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
  return { status: statusCode, contentType, body: Buffer.concat(chunks) }
}

/** Why there is no answer; stable, for programs. Nothing that the other side sent is in it. */
type OutboundCode =
  | 'target_refused'
  | 'name_not_found'
  | 'address_refused'
  | 'connection_timeout'
  | 'connection_failed'
  | 'tls_failed'
  | 'timeout'
  | 'redirected'
  | 'content_encoded'
  | 'response_too_large'
  | 'response_broken'
  | 'aborted'

export class OutboundError extends Error {
  readonly code: OutboundCode
  constructor(code: OutboundCode, message: string) {
    super(message)
    this.name = 'OutboundError'
    this.code = code
  }
}

/** Aborts a request before its answer is complete: by two deadlines or by its sender. */
export class OutboundDeadlines implements Disposable {
  readonly #controller = new AbortController()
  readonly #connecting: NodeJS.Timeout
  readonly #total: NodeJS.Timeout
  readonly #sender: AbortSignal | undefined
  readonly #onAbort = () => this.#end('aborted', 'the request was aborted')

  constructor(limits: { connectMs: number; totalMs: number }, sender: AbortSignal | undefined) {
    this.#connecting = setTimeout(
      () => this.#end('connection_timeout', `no connection within ${limits.connectMs} ms`),
      limits.connectMs,
    )
    this.#total = setTimeout(
      () => this.#end('timeout', `no complete response within ${limits.totalMs} ms`),
      limits.totalMs,
    )
    this.#sender = sender
    if (sender?.aborted) this.#onAbort()
    sender?.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Aborts with an `OutboundError` as its reason. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Only the deadline for the whole stays. */
  connected(): void {
    clearTimeout(this.#connecting)
  }

  /** The result of work that does not listen to the signal; rejects as soon as it aborts. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const give = () => reject(this.signal.reason as OutboundError)
      if (this.signal.aborted) give()
      this.signal.addEventListener('abort', give, { once: true })
      work.then(resolve, reject)
    })
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#connecting)
    clearTimeout(this.#total)
    this.#sender?.removeEventListener('abort', this.#onAbort)
  }

  #end(code: OutboundCode, message: string): void {
    this.#controller.abort(new OutboundError(code, message))
  }
}
