import { AsyncLocalStorage } from 'node:async_hooks'
import type { Client } from '@remit/sdk'
import type { Environment, GatewaySettings } from '../config/read.ts'
import type { Caller } from '../credentials/callers.ts'
import { Callers } from '../credentials/callers.ts'
import { Access } from './access.ts'
import { tooMany, Fault } from './respond.ts'
import { LegacySession } from './legacy-session.ts'
import { createClient } from '@remit/sdk/node'

export interface GatewayOptions {
  readonly settings: GatewaySettings
  /** Address and key of Remit. */
  readonly url: string
  readonly key: string
  readonly omitKey?: string | undefined
  readonly env: Environment
  readonly warn: (text: string) => void
}

const SWEEP_MS = 10_000
const STOP_MS = 10_000
/** The share of all requests that one caller can have under way. */
const MOST_OF_ONE = 0.75

/** The state of a gateway on HTTP: the callers of each server, and the sessions of clients. */
export class Gateway {
  readonly url: string
  readonly key: string
  readonly omitKey: string | undefined
  readonly config: GatewaySettings['config']
  readonly settings: GatewaySettings
  readonly upstreams: GatewaySettings['upstreams']
  readonly env: Environment
  readonly warn: (text: string) => void
  readonly callers: Callers
  /** Reports tools with the gateway's own key: no agent can report others than the server offers. */
  readonly reporter: Client
  /** The credential of the request that is answered: another one of its agent may have other scopes. */
  readonly presented = new AsyncLocalStorage<string | undefined>()
  readonly #accesses = new Map<string, Access>()
  readonly #sessions = new Map<string, LegacySession>()
  readonly #sweeping: NodeJS.Timeout
  readonly #open = new Map<Promise<unknown>, string>()
  readonly #stopping = new AbortController()

  constructor({ settings, url, key, omitKey, env, warn }: GatewayOptions) {
    this.url = url
    this.key = key
    this.omitKey = omitKey
    this.settings = settings
    this.config = settings.config
    this.upstreams = settings.upstreams
    this.env = env
    this.warn = warn
    this.reporter = createClient({ baseUrl: url, key })
    const { agent, oauth, results } = settings.config
    const hasGuard = results !== 'off'
    this.callers = new Callers({ url, key, agent, acceptsTokens: oauth !== undefined, hasGuard })
    this.#sweeping = setInterval(() => void this.#sweep(), SWEEP_MS).unref()
  }

  /** The caller's use of a server; undefined if there is no such server. */
  access(name: string, caller: Caller): Access | undefined {
    const upstream = this.upstreams.get(name)
    if (!upstream) return undefined
    const key = JSON.stringify([name, caller.id])
    let access = this.#accesses.get(key)
    if (!access) {
      if (this.#accesses.size >= this.config.limits.sessions) throw tooMany('agents')
      access = new Access({ gateway: this, name, upstream, caller })
      this.#accesses.set(key, access)
    }
    access.use(caller)
    return access
  }

  /** Begins a session of a client that shakes hands. Throws a `Fault` where there are too many. */
  begin(access: Access, caller: Caller): LegacySession {
    if (this.#sessions.size >= this.config.limits.sessions && !this.#makeRoom(caller))
      throw tooMany('sessions')
    const session = new LegacySession(access, caller, this.warn)
    this.#sessions.set(session.id, session)
    return session
  }

  /** Ends a session without a call of the caller that has most of them; false if that is this one. */
  #makeRoom(caller: Caller): boolean {
    const owned = Map.groupBy(this.#sessions.values(), ({ callerId }) => callerId)
    const most = [...owned.values()].reduce((a, b) => (b.length > a.length ? b : a), [])
    const oldest = most.find(({ isCalling }) => !isCalling)
    if (!oldest || most.length <= (owned.get(caller.id)?.length ?? 0) + 1) return false
    this.end(oldest).catch((error: Error) => this.warn(`ending a session failed: ${error.message}`))
    return true
  }

  /** The session of an id, if it is this caller's and with this server. */
  session(id: string, access: Access, caller: Caller): LegacySession | undefined {
    const session = this.#sessions.get(id)
    if (session?.isAlive === false) void this.end(session)
    const isOwn = session?.access === access && session.callerId === caller.id && session.isAlive
    return isOwn ? session : undefined
  }

  async end(session: LegacySession): Promise<void> {
    if (this.#sessions.delete(session.id)) await session.stop()
  }

  /** Aborted when the gateway ends: streams without an end of their own end then. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  /**
   * Runs the work of a request with the credential of its caller. Throws a `Fault` where too many requests are
   * under way, of all callers or of this one.
   */
  async during<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    if (this.stopping.aborted)
      throw new Fault(503, 'The gateway is being stopped.', { headers: { connection: 'close' } })
    const { streams } = this.config.limits
    const own = [...this.#open.values()].filter((id) => id === caller.id).length
    if (this.#open.size >= streams || own >= Math.ceil(streams * MOST_OF_ONE))
      throw tooMany('requests')
    const done = this.presented.run(caller.key, work)
    this.#open.set(done, caller.id)
    try {
      return await done
    } finally {
      this.#open.delete(done)
    }
  }

  /** Waits for the requests under way, reports all outcomes, and ends the servers that it started. */
  async stop(): Promise<void> {
    clearInterval(this.#sweeping)
    this.#stopping.abort()
    const sessions = [...this.#sessions.values()]
    await Promise.race([
      Promise.allSettled(this.#open.keys()),
      new Promise((done) => setTimeout(done, STOP_MS).unref()),
    ])
    for (const session of sessions) session.abort()
    await Promise.allSettled([
      ...sessions.map((session) => this.end(session)),
      ...[...this.#accesses.values()].map((access) => access.stop()),
    ])
  }

  async #sweep(): Promise<void> {
    const { idle_seconds: seconds } = this.config.limits
    for (const session of this.#sessions.values())
      if (!session.isAlive || session.isIdle(seconds)) await this.end(session)
    const used = new Set([...this.#sessions.values()].map(({ access }) => access))
    for (const [key, access] of this.#accesses)
      if (access.isIdle && !used.has(access)) {
        this.#accesses.delete(key)
        await access.stop()
      }
  }
}
