import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse, IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { checkKey } from '../credentials/rights.ts'
import { Gateway } from './gateway.ts'
import type { GatewayOptions } from './gateway.ts'
import { Busy, Unauthorized, Unavailable } from '../credentials/callers.ts'
import type { Caller } from '../credentials/callers.ts'
import { CODES, errorAnswer } from '../rpc/answers.ts'
import { NotAMessage } from '../rpc/message.ts'
import type { Message } from '../rpc/message.ts'
import { eraOf } from '../rpc/protocol.ts'
import { SESSION_ID } from '../upstream/headers.ts'
import type { Access } from './access.ts'
import { messageIn, Fault, respond, Reply } from './respond.ts'
import { acceptedIn, checkHeaders, headerOf, mirroredIn } from './headers.ts'
import type { LegacySession } from './legacy-session.ts'
import { isLoopback } from '../config/read.ts'

export interface RunningGateway {
  /** Its address as clients know it. */
  readonly url: string
  /** Ends it once the requests under way are answered. */
  stop(): Promise<void>
}

/** Milliseconds for the body of a request. */
const REQUEST_MS = 60_000

/** Starts a gateway on HTTP. Rejects where its port is taken, or its key cannot be used. */
export async function serve(options: GatewayOptions): Promise<RunningGateway> {
  const { host, port, publicUrl, config } = options.settings
  const gateway = new Gateway(options)
  await checkKey({
    client: gateway.reporter,
    url: options.url,
    hasGuard: config.results !== 'off',
    warn: options.warn,
  })
  const keepAliveTimeout = config.limits.keep_alive_seconds * 1000
  const server = createServer({ requestTimeout: REQUEST_MS, keepAliveTimeout })
  server.listen({ host, port })
  await once(server, 'listening')
  const { port: bound } = server.address() as AddressInfo
  const url = publicUrl ?? new URL(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`)
  const origins = originsOf(url, host, config.allowed_origins)
  const front = new Front(gateway, { origins, url })
  server.on('request', (request, response) => void front.handle(request, response))
  return {
    url: url.origin,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      await gateway.stop()
      server.closeAllConnections()
      await closed
    },
  }
}

const ENDPOINT = /^\/mcp\/([A-Za-z0-9][A-Za-z0-9._-]{0,63})$/

interface Place {
  readonly origins: Origins
  /** Address of the gateway as clients know it. */
  readonly url: URL
}

/** Answers the requests of a gateway on HTTP: one endpoint for each server, and its metadata. */
class Front {
  readonly #gateway: Gateway
  readonly #place: Place

  constructor(gateway: Gateway, place: Place) {
    this.#gateway = gateway
    this.#place = place
  }

  readonly handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
    try {
      // Probes of a container name its address.
      if (path === '/healthz') return sendJson(response, 200, '{"status":"ok"}')
      checkOrigin(this.#place.origins, request.headers)
      if (path.startsWith(METADATA_PATH)) this.#metadata(path, response)
      else await this.#endpoint(path, request, response)
    } catch (error) {
      this.#refuse(path, response, error)
    }
  }

  #metadata(path: string, response: ServerResponse): void {
    const resource = path.slice(METADATA_PATH.length)
    const { oauth } = this.#gateway.config
    if (!oauth || !this.#names(resource)) throw new Fault(404, 'There is no such resource.')
    const metadata = metadataOf(this.#resource(resource), oauth.authorization_servers)
    sendJson(response, 200, JSON.stringify(metadata))
  }

  async #endpoint(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = this.#names(path)
    if (name === null) throw new Fault(404, 'There is no such server; it is at /mcp/NAME.')
    const gateway = this.#gateway
    const caller = await gateway.callers.identify(
      request.headers.authorization,
      this.#resource(path),
    )
    const access = gateway.access(name, caller)
    if (!access) throw new Fault(404, 'There is no such server; it is at /mcp/NAME.')
    await gateway.during(caller, async () => {
      if (request.method === 'POST') return this.#post(access, caller, request, response)
      const session = this.#sessionOf(request, access, caller)
      if (request.method === 'DELETE') {
        await gateway.end(session)
        response.writeHead(204).end()
      } else await listen(session, request, response, gateway.stopping)
    })
  }

  async #post(
    access: Access,
    caller: Caller,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const accepted = acceptedIn(request.headers)
    const message = await messageIn(request, this.#gateway.config.limits.body_bytes)
    checkHeaders(request.headers, message)
    const reply = new Reply(response, accepted)
    if (message.kind !== 'response' && eraOf(message) === 'modern')
      return this.#modern(access, message, request, reply)
    if (message.kind === 'request' && message.method === 'initialize') {
      const session = this.#gateway.begin(access, caller)
      reply.setHeader(SESSION_ID, session.id)
      return session.request(message, reply)
    }
    const session = this.#sessionOf(request, access, caller)
    if (message.kind === 'request') return session.request(message, reply)
    await session.pass(message)
    reply.close(202)
  }

  /** A request without a session. The client cancels it by going away. */
  async #modern(
    access: Access,
    message: Exclude<Message, { kind: 'response' }>,
    request: IncomingMessage,
    reply: Reply,
  ): Promise<void> {
    const connection = access.connection()
    if (message.kind === 'notification') {
      await connection.send(message)
      return reply.close(202)
    }
    const isEndless = message.method === 'subscriptions/listen'
    await respond(message, reply, {
      session: access.session,
      connection,
      signal: isEndless ? AbortSignal.any([reply.gone, this.#gateway.stopping]) : reply.gone,
      mirrored: mirroredIn(request.headers),
      message(one) {
        if (access.session.observe(one)) reply.message(one)
      },
    })
  }

  #sessionOf(request: IncomingMessage, access: Access, caller: Caller): LegacySession {
    const isPost = request.method === 'POST'
    if (!isPost && request.method !== 'GET' && request.method !== 'DELETE')
      throw new Fault(405, 'The method must be POST, GET or DELETE.', {
        headers: { allow: 'POST, GET, DELETE' },
      })
    const id = headerOf(request.headers, SESSION_ID)
    // Clients that have no session learn that they need none (2026-07-28).
    if (id === undefined && !isPost)
      throw new Fault(405, 'Without a session, the method must be POST.', {
        headers: { allow: 'POST' },
      })
    if (id === undefined)
      throw new Fault(400, 'Mcp-Session-Id: is required, or a protocol version in params._meta.')
    const session = this.#gateway.session(id, access, caller)
    if (!session) throw new Fault(404, 'There is no such session; begin one with initialize.')
    return session
  }

  /** The name of the server of a path, if there is one. */
  #names(path: string): string | null {
    const name = ENDPOINT.exec(path)?.[1]
    return name !== undefined && this.#gateway.upstreams.has(name) ? name : null
  }

  #resource(path: string): string {
    return new URL(path, this.#place.url).href
  }

  #refuse(path: string, response: ServerResponse, error: unknown): void {
    if (response.headersSent) {
      response.destroy()
      return
    }
    if (error instanceof Fault) sendJson(response, error.status, error.answer, error.headers)
    else if (error instanceof NotAMessage) sendJson(response, 400, error.answer)
    else if (error instanceof Unauthorized) {
      const hasMetadata = this.#gateway.config.oauth !== undefined && this.#names(path) !== null
      const metadata = hasMetadata ? this.#resource(METADATA_PATH + path) : null
      const headers = { 'www-authenticate': challengeOf(error, metadata) }
      const status = error.code === 'insufficient_scope' ? 403 : 401
      sendJson(response, status, errorAnswer(null, CODES.refused, error.message), headers)
    } else if (error instanceof Unavailable || error instanceof Busy) {
      const status = error instanceof Busy ? 429 : 503
      const headers = { 'retry-after': status === 429 ? '60' : '5' }
      sendJson(response, status, errorAnswer(null, CODES.internal, error.message), headers)
    } else {
      const message = error instanceof Error ? error.message : String(error)
      this.#gateway.warn(`${path}: ${message}`)
      sendJson(response, 502, errorAnswer(null, CODES.internal, message))
    }
  }
}

async function listen(
  session: LegacySession,
  request: IncomingMessage,
  response: ServerResponse,
  stopping: AbortSignal,
): Promise<void> {
  const accepted = acceptedIn(request.headers)
  if (!accepted.stream) throw new Fault(406, 'Accept: must have text/event-stream.')
  const reply = new Reply(response, accepted)
  const { gone } = reply
  const closed = new Promise((resolve) => gone.addEventListener('abort', resolve, { once: true }))
  const signal = AbortSignal.any([gone, stopping])
  if (!(await session.listen(reply, signal)))
    throw new Fault(405, 'The server has no event stream of its own.', {
      headers: { allow: 'POST, DELETE' },
    })
  stopping.addEventListener('abort', () => reply.close(), { once: true, signal: gone })
  await closed
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

interface Origins {
  /** Host names under which the gateway is reached. */
  readonly hosts: ReadonlySet<string>
  readonly origins: ReadonlySet<string>
}

/** The hosts and origins of a gateway at `url` that listens on `host`. Pure. */
function originsOf(url: URL, host: string, allowed: readonly string[]): Origins {
  const local = isLoopback(host) ? ['localhost', '127.0.0.1', '[::1]'] : []
  return { hosts: new Set([url.hostname, ...local]), origins: new Set([url.origin, ...allowed]) }
}

/**
 * Refuses what a page in a browser could send to a gateway that it must not reach (DNS rebinding). Throws
 * `Fault`. Pure.
 */
function checkOrigin({ hosts, origins }: Origins, headers: IncomingHttpHeaders): void {
  const name = `http://${headers.host ?? ''}`
  const host = URL.canParse(name) ? new URL(name).hostname : ''
  if (!hosts.has(host)) throw new Fault(403, `Host: must be one of ${[...hosts].join(', ')}.`)
  const { origin } = headers
  if (origin !== undefined && !origins.has(origin))
    throw new Fault(403, `Origin: ${origin} is not one of allowed_origins.`)
}

/** Path below which the metadata of each resource is (RFC 9728 §3.1). */
const METADATA_PATH = '/.well-known/oauth-protected-resource'

/** Protected resource metadata (RFC 9728 §2). */
const metadataOf = (resource: string, authorizationServers: readonly string[]) => ({
  resource,
  authorization_servers: authorizationServers,
  bearer_methods_supported: ['header'],
})

/** The value of `WWW-Authenticate` for a refused request (RFC 6750 §3, RFC 9728 §5.1). */
function challengeOf({ code, scope }: Unauthorized, metadataUrl: string | null): string {
  const parameters = [
    'realm="remit-mcp"',
    ...(code === undefined ? [] : [`error="${code}"`]),
    ...(scope === undefined ? [] : [`scope="${scope}"`]),
    ...(metadataUrl === null ? [] : [`resource_metadata="${metadataUrl}"`]),
  ]
  return `Bearer ${parameters.join(', ')}`
}
