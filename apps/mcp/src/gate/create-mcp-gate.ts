import type { ToolMapping } from '@remit/sdk'
import { createClient } from '@remit/sdk/node'
import { checkedOmitKey, governedWith } from '../decide/governed.ts'
import type { Settings } from '../decide/governed.ts'
import { Running } from '../decide/running.ts'
import { Session } from '../decide/session.ts'
import { Tasks } from '../decide/tasks.ts'
import { checkKey } from '../credentials/rights.ts'
import { isId, keyOf, textOf } from '../rpc/members.ts'
import type { Id, Members } from '../rpc/members.ts'
import { NotAMessage, readMessage } from '../rpc/message.ts'
import type { Message, Request } from '../rpc/message.ts'
import { eraOf, UPDATED } from '../rpc/protocol.ts'
import { cancelledBy } from '../stdio/upstream.ts'

export interface McpGateOptions extends Partial<Omit<Settings, 'unknown'>> {
  /** Address of Remit. */
  readonly url: string
  /** The credential of the agent, or an ingest key with `agentId`. */
  readonly key: string
  readonly agentId?: string
  /** Name of the server in Remit: `context.upstream` of its decisions. */
  readonly name: string
  /** The requests of tools, by name. */
  readonly map?: Readonly<Record<string, ToolMapping>>
  /** Secret of at least 32 characters for the digests of omitted members; the key unless given. */
  readonly omitKey?: string
  /** Receives each warning. Default: a warning of the process. */
  readonly onWarning?: (message: string) => void
}

/** A server of either line of the MCP SDK. */
interface McpServerLike {
  connect(transport: never): Promise<void>
}

/**
 * Puts the gate in front of a server's own tools, resources and prompts, for its owner: each request is decided
 * and recorded before a handler receives it. Takes a server before it is connected, or the factory that
 * `createMcpHandler` and `serveStdio` take; with a factory, approvals and sessions go beyond one request.
 *
 * @example
 * const server = createMcpGate(new McpServer({ name: 'billing', version: '1' }), { url, key, name: 'billing' })
 * await server.connect(new StdioServerTransport())
 */
export function createMcpGate<Server extends McpServerLike>(
  server: Server,
  options: McpGateOptions,
): Server
export function createMcpGate<Context extends readonly unknown[], Server extends McpServerLike>(
  factory: (...context: Context) => Server | Promise<Server>,
  options: McpGateOptions,
): (...context: Context) => Promise<Server>
export function createMcpGate(
  subject: McpServerLike | ((...context: unknown[]) => McpServerLike | Promise<McpServerLike>),
  options: McpGateOptions,
): unknown {
  const isFactory = typeof subject === 'function'
  // A server of a factory may live for one request.
  const sessions = sessionsWith(options, isFactory ? null : new Tasks())
  if (!isFactory) return govern(subject, sessions)
  return async (...context: unknown[]) => govern(await subject(...context), sessions)
}

interface Sessions {
  /** Rejects where the key cannot be used. */
  readonly ready: () => Promise<void>
  /** Of all requests of 2026-07-28, which have no session. */
  readonly shared: Session
  readonly begin: () => Session
}

function sessionsWith(options: McpGateOptions, tasks: Tasks | null): Sessions {
  const { url, key, agentId, name, map = {}, omitKey, onWarning } = options
  const { deny = 'result', results = 'note', holdMs = 50_000, dropMeta = [] } = options
  const client = createClient({ baseUrl: url, key })
  const warn = onWarning ?? ((message: string) => process.emitWarning(message, 'RemitWarning'))
  let checked: Promise<void> | null = null
  const ready = () => (checked ??= checkKey({ client, url, hasGuard: results !== 'off', warn }))
  const governed = governedWith({
    url,
    client,
    secret: key,
    omitKey: checkedOmitKey(omitKey, 'omitKey'),
    agentId,
    upstream: name,
    trust: null,
    // The server knows its methods.
    settings: { deny, results, holdMs, dropMeta, unknown: 'forward' },
    mappings: map,
    warn,
  })
  const shared = { tasks, running: new Running() }
  const begin = () => new Session(governed, shared)
  return { ready, shared: begin(), begin }
}

function govern<Server extends McpServerLike>(server: Server, sessions: Sessions): Server {
  const connect = server.connect.bind(server) as (transport: Transport) => Promise<void>
  const governedConnect = async (transport: Transport) => {
    await sessions.ready()
    return connect(gated(transport, { shared: sessions.shared, own: sessions.begin() }))
  }
  return Object.assign(server, { connect: governedConnect })
}

type Send = (message: unknown, options?: Members) => Promise<void>
type Receive = (message: unknown, extra?: unknown) => void

/** A transport of the MCP SDK, as far as the gate uses it. */
interface Transport {
  onmessage?: Receive
  onclose?: () => void
  send: Send
}

interface TransportSessions {
  readonly shared: Session
  readonly own: Session
}

/** The transport with the gate between it and the server. */
function gated(transport: Transport, sessions: TransportSessions): Transport {
  const open = new Map<string, (response: Buffer) => void>()
  const aborted = new Map<string, AbortController>()
  let receive: Receive = () => undefined

  /** A server may tell all of its clients that a resource has changed. */
  const isHeard = (message: { readonly method?: unknown }): boolean => {
    if (message.method !== UPDATED) return true
    const read = readAgain(message)
    return read !== null && (sessions.own.observe(read) || sessions.shared.observe(read))
  }

  const send: Send = (message, options) => {
    const response = message as { id?: unknown; method?: unknown }
    const isResponse = response.method === undefined && isId(response.id)
    const answered = isResponse ? open.get(keyOf(response.id as Id)) : undefined
    if (!answered) return isHeard(response) ? transport.send(message, options) : Promise.resolve()
    answered(Buffer.from(JSON.stringify(message)))
    return Promise.resolve()
  }

  const decide = async (request: Request, extra: unknown): Promise<void> => {
    const key = keyOf(request.id)
    const toClient = (text: Buffer | string) =>
      transport.send(JSON.parse(text.toString()), { relatedRequestId: request.id })
    const cancelled = new AbortController()
    aborted.set(key, cancelled)
    try {
      const session = eraOf(request) === 'modern' ? sessions.shared : sessions.own
      const response = await session.respond(request, {
        signal: cancelled.signal,
        gone: cancelled.signal,
        notify: (text) => void toClient(text),
        call: (bytes) =>
          new Promise<Buffer>((answered, reject) => {
            open.set(key, answered)
            cancelled.signal.addEventListener('abort', () => reject(new Error('Cancelled.')), {
              once: true,
            })
            // The decided message: a client in this process could change its own object meanwhile.
            receive(JSON.parse(bytes.toString()), extra)
          }).finally(() => open.delete(key)),
      })
      await toClient(response)
    } catch (error) {
      // A cancelled request has no response.
      if (!cancelled.signal.aborted) throw error
    } finally {
      aborted.delete(key)
    }
  }

  const arrive: Receive = (message, extra) => {
    const read = readAgain(message)
    if (read?.kind === 'request') {
      // Two answers with one id: the first would go to the second call, and the second past the guard.
      if (aborted.has(keyOf(read.id)))
        void refuse(transport, read, 'id: is in use by another request.')
      else void decide(read, extra)
      return
    }
    // Neither is a list a message: a server that takes it would run its requests.
    if (read === null && (Array.isArray(message) || hasMethod(message))) {
      void refuse(transport, message, 'The request is no message that the gate can judge.')
      return
    }
    receive(message, extra)
    const id = read ? cancelledBy(read) : undefined
    if (isId(id)) aborted.get(keyOf(id))?.abort()
  }

  return new Proxy(transport, {
    get(target, name) {
      if (name === 'send') return send
      if (name === 'onmessage') return receive
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
    set(target, name, value: unknown) {
      if (name === 'onclose') {
        // A server that is closed answers nothing any more.
        const closed = value as (() => void) | undefined
        const ended = () => {
          for (const cancelled of aborted.values()) cancelled.abort()
          closed?.()
        }
        return Reflect.set(target, name, ended, target)
      }
      if (name !== 'onmessage') return Reflect.set(target, name, value, target)
      receive = value as Receive
      return Reflect.set(target, name, arrive, target)
    },
  })
}

const hasMethod = (message: unknown): boolean =>
  (message as { method?: unknown }).method !== undefined

/** The message as the gate reads it; null if it refuses it. The SDK has read its text already. */
function readAgain(message: unknown): Message | null {
  try {
    return readMessage(Buffer.from(textOf(message)))
  } catch (error) {
    if (error instanceof NotAMessage) return null
    throw error
  }
}

async function refuse(transport: Transport, message: unknown, reason: string): Promise<void> {
  const { id } = message as { id?: unknown }
  if (!isId(id)) return
  const error = { code: -32_600, message: reason }
  await transport.send({ jsonrpc: '2.0', id, error }, { relatedRequestId: id })
}
