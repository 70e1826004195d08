import type { ToolMapping } from '@remit/sdk'
import { checkedOmitKey, governedWith } from '../decide/govern.ts'
import type { Settings } from '../decide/governed.ts'
import { Running } from '../decide/running.ts'
import { Session } from '../decide/session.ts'
import { Tasks } from '../decide/tasks.ts'
import { checkKey } from '../credentials/rights.ts'
import { gated } from './transport.ts'
import type { Transport } from './transport.ts'
import { createClient } from '@remit/sdk/node'

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
