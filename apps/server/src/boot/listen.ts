import { randomUUID } from 'node:crypto'
import { createServer, STATUS_CODES } from 'node:http'
import type { IncomingMessage, ServerResponse, Server } from 'node:http'
import { createServer as createSocket } from 'node:net'
import type { AddressInfo, ListenOptions as SocketOptions, Server as Socket } from 'node:net'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { getRequestListener, RequestError } from '@hono/node-server'
import { fail } from '@remit/core/base'
import type { Failure } from '@remit/core/base'
import { problemBody, problemResponse } from '@remit/core/http'
import type { Remit } from '@remit/core/server'

export interface Listener {
  readonly url: string
  /** Finishes running requests, then resolves. */
  stop(): Promise<void>
}

export interface ListenOptions {
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  /** The setting that changes the port: an error names it as the remedy. */
  readonly setting?: string
  /** Milliseconds to receive a request completely. Default: 30 s. */
  readonly requestTimeoutMs?: number
  /** Milliseconds after which an unused connection ends. Default: 620 s, above load balancers. */
  readonly keepAliveMs?: number
}

/** Listening on a port or address failed. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

const MAX_HEADER_BYTES = 16 * 1024
const REQUEST_MS = 30_000
const KEEP_ALIVE_MS = 620_000

/** Listens and resolves when requests are accepted. Throws `ListenError`. */
export async function listen(
  app: Pick<Remit['app'], 'fetch'>,
  options: ListenOptions,
): Promise<Listener> {
  const { host, port, requestTimeoutMs = REQUEST_MS, keepAliveMs = KEEP_ALIVE_MS } = options
  const answer = getRequestListener(app.fetch, { errorHandler: refuseUnusable })
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
      // Balancers must close connections first: a request on one that ends at once fails.
      keepAliveTimeout: keepAliveMs,
      // A missing Host is rejected below, with a problem document.
      requireHostHeader: false,
    },
    (request, response) =>
      countHosts(request) > 1 ? refuseHosts(request, response) : void answer(request, response),
  )
  server.on('checkExpectation', refuseExpectation)
  const open = new OpenResponses(server)
  answerBrokenRequests(server, open)
  const { address, others } = await openPort(server, host, port).catch((error: unknown) => {
    throw new ListenError(reason(error as NodeJS.ErrnoException, options))
  })
  return { url: urlOf(host, address), stop: gracefulStop(server, open, others) }
}

/** Rejects a request without a valid Host. */
function refuseUnusable(error: unknown): Response {
  const unusable = error instanceof RequestError
  return problemResponse(
    unusable
      ? fail('invalid_request', 'The request must have a valid Host header and path')
      : error,
    randomUUID(),
  )
}

/**
 * Node keeps the first of several Host fields; a proxy may have read another one (RFC 9112 §3.2).
 */
function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

/** Only `Expect: 100-continue` is supported (RFC 9110 §10.1.1). */
const refuseExpectation = refusing('The only supported expectation is Expect: 100-continue')
const refuseHosts = refusing('The request has more than one Host header')

/** Responds with 400 before the request reaches the application, and closes the connection. */
function refusing(detail: string): (request: IncomingMessage, response: ServerResponse) => void {
  return (_request, response) => {
    const failure = fail('invalid_request', detail)
    const requestId = randomUUID()
    const body = JSON.stringify(problemBody(failure, requestId))
    response.writeHead(failure.status, {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
    })
    response.end(body)
  }
}

const ANY = new Set(['127.0.0.1', '0.0.0.0', '::', '::1'])

function urlOf(host: string, { port }: AddressInfo): string {
  if (ANY.has(host)) return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function reason(error: NodeJS.ErrnoException, { host, port, setting }: ListenOptions): string {
  const remedy = setting === undefined ? '' : `; set ${setting} to another port`
  if (error.code === 'EADDRINUSE') return `Port ${port} on ${host} is already in use${remedy}`
  if (error.code === 'EACCES')
    return `Permission to listen on port ${port} on ${host} was denied${remedy}`
  return `Listening on port ${port} on ${host} failed: ${error.message}`
}

/** Milliseconds for a client to read its error and disconnect. */
const LINGER_MS = 2_000

/** Responds with a problem document to requests that the HTTP parser rejects. */
function answerBrokenRequests(server: Server, open: OpenResponses): void {
  const refused = new WeakSet<Duplex>()
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // Further data is rejected by the parser again, and discarded.
    if (refused.has(socket)) return
    refused.add(socket)
    if (error.code === 'ECONNRESET') socket.destroy()
    else void refuse(socket, failureOf(error.code), open.of(socket))
  })
}

/** Responds after the earlier requests of the connection, so that responses keep their order. */
async function refuse(
  socket: Duplex,
  failure: Failure,
  open: readonly ServerResponse[],
): Promise<void> {
  const earlier = open.filter((response) => response.req.complete)
  await Promise.all(earlier.map((response) => once(response, 'close')))
  if (!socket.writable) {
    socket.destroy()
    return
  }
  socket.end(rawAnswer(failure))
  // If the socket were destroyed with unread bytes, the client would see a reset instead of the
  // response.
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

function rawAnswer(failure: Failure): string {
  const requestId = randomUUID()
  const body = JSON.stringify(problemBody(failure, requestId))
  return [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? 'Error'}`,
    'Content-Type: application/problem+json',
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

function failureOf(code: string | undefined): Failure {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return fail('header_too_large', 'The header must not exceed 16 KiB')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fail('request_timeout')
  return fail('invalid_request', 'The request is not valid HTTP/1.1')
}

/**
 * The responses that a server has not finished, by connection.
 *
 * One short array per connection, and no `Set` of responses: V8 replaces the table of a `Set` that
 * changes often, and each old table keeps the next one alive with the responses in it, so that every
 * request is copied to the old generation.
 */
export class OpenResponses {
  readonly #byConnection = new Map<Duplex, ServerResponse[]>()

  constructor(server: Server) {
    server.on('connection', (socket: Duplex) => {
      this.#byConnection.set(socket, [])
      socket.once('close', () => this.#byConnection.delete(socket))
    })
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const responses = this.#byConnection.get(socket)
      // Finished responses leave here, without a listener for each.
      while (responses?.[0]?.destroyed) responses.shift()
      responses?.push(response)
    })
  }

  /** The open responses of one connection, oldest first. */
  of(socket: Duplex): ServerResponse[] {
    return (this.#byConnection.get(socket) ?? []).filter((response) => !response.destroyed)
  }

  all(): ServerResponse[] {
    return [...this.#byConnection.keys()].flatMap((socket) => this.of(socket))
  }
}

/**
 * Sockets on the one port. Node accepts one connection per socket and turn of the event loop; with a
 * single socket, a new connection waits for all those that came before it, each for a turn. Only Linux
 * is known to spread connections evenly among sockets.
 */
const SOCKETS = process.platform === 'linux' ? 32 : 1

export interface OpenPort {
  readonly address: AddressInfo
  /** Sockets in addition to that of the server itself. */
  readonly others: readonly Socket[]
}

/** Listens on a port for `server`. Throws the error of `listen` where it is taken. */
export async function openPort(server: Server, host: string, port: number): Promise<OpenPort> {
  if (SOCKETS === 1) return { address: await listening(server, { host, port }), others: [] }
  const shared = { host, port: await findFree(host, port), reusePort: true }
  const address = await listening(server, shared)
  const others = Array.from({ length: SOCKETS - 1 }, () =>
    // As node:http makes its own sockets.
    createSocket({ allowHalfOpen: true, noDelay: true }, (socket) =>
      server.emit('connection', socket),
    ),
  )
  await Promise.all(others.map((other) => listening(other, shared)))
  return { address, others }
}

/** Returns the port, or a free one for 0. Throws if another process uses it, also with `reusePort`. */
async function findFree(host: string, port: number): Promise<number> {
  const probe = createSocket()
  const address = await listening(probe, { host, port })
  await new Promise((resolve) => probe.close(resolve))
  return address.port
}

async function listening(server: Socket, options: SocketOptions): Promise<AddressInfo> {
  server.listen(options)
  await once(server, 'listening')
  return server.address() as AddressInfo
}

/** Milliseconds after which open connections are closed; below the usual grace period of 30 s. */
const CUT_MS = 25_000
const SWEEP_MS = 50

/**
 * Prepares a server to be stopped. The returned function stops accepting, lets every request under
 * way be answered (with `Connection: close`, so that no client sends another one into a closing
 * connection) and resolves when the last connection is gone. `others` are further listening sockets
 * of the server.
 */
export function gracefulStop(
  server: Server,
  open: OpenResponses,
  others: readonly Socket[] = [],
): () => Promise<void> {
  return () => {
    server.prependListener('request', (_request, response: ServerResponse) => {
      response.setHeader('Connection', 'close')
    })
    for (const response of open.all()) {
      if (!response.headersSent) response.setHeader('Connection', 'close')
    }
    return closed(server, others)
  }
}

async function closed(server: Server, others: readonly Socket[]): Promise<void> {
  // Connections whose response had started before the stop become idle without an event.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
  const cut = setTimeout(() => server.closeAllConnections(), CUT_MS)
  await Promise.all(
    [server, ...others].map((each) => new Promise((resolve) => each.close(resolve))),
  )
  clearInterval(sweep)
  clearTimeout(cut)
}
