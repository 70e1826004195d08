import type { Client } from '@remit/sdk'
import type { Caller } from '../credentials/callers.ts'
import { governedWith } from '../decide/governed.ts'
import type { Governed } from '../decide/governed.ts'
import { Running } from '../decide/running.ts'
import { Session } from '../decide/session.ts'
import { Tasks } from '../decide/tasks.ts'
import type { UpstreamSettings } from '../config/read.ts'
import { startChild } from '../stdio/child.ts'
import type { Child } from '../stdio/child.ts'
import type { Message } from '../rpc/message.ts'
import { AnyRevision } from '../revisions/any-revision.ts'
import type { Connection } from '../upstream/connection.ts'
import { Remote } from '../upstream/remote.ts'
import { SharedChild } from '../upstream/own-child.ts'
import type { Gateway } from './gateway.ts'
import { createClient } from '@remit/sdk/node'

export interface AccessOptions {
  readonly gateway: Gateway
  readonly name: string
  readonly upstream: UpstreamSettings
  readonly caller: Caller
}

/** The use of one server by one agent: the requests without a session, and the ground of its sessions. */
export class Access {
  readonly name: string
  readonly upstream: UpstreamSettings
  readonly session: Session
  readonly #gateway: Gateway
  readonly #caller: Caller
  readonly #client: Client
  readonly #tasks = new Tasks()
  /** Of all sessions of the agent. */
  readonly running = new Running()
  #key: string
  #shared: SharedChild | null = null
  #connection: Connection | null = null
  #usedAt = Date.now()

  constructor({ gateway, name, upstream, caller }: AccessOptions) {
    this.name = name
    this.upstream = upstream
    this.#gateway = gateway
    this.#caller = caller
    this.#key = caller.key
    const keyOfRequest = () => gateway.presented.getStore() ?? this.#key
    this.#client = createClient({
      baseUrl: gateway.url,
      // Credentials are renewed while sessions go on.
      get key() {
        return keyOfRequest()
      },
    })
    const { actingFor } = caller
    this.session = new Session(this.governed(), {
      tasks: this.#tasks,
      running: this.running,
      ownTasks: true,
      ...(actingFor !== undefined && { actingFor }),
    })
  }

  /** Notes a request of the caller, and the credential that it has now. */
  use({ key }: Caller): void {
    this.#key = key
    this.#usedAt = Date.now()
  }

  get isIdle(): boolean {
    const { idle_seconds: seconds } = this.#gateway.config.limits
    return this.#shared?.isUsed !== true && Date.now() - this.#usedAt > seconds * 1000
  }

  /** The server as one session sees it: it has its own list of tools. */
  governed(): Governed {
    const { url, config, settings, key, omitKey, reporter, presented, warn } = this.#gateway
    const { trust, deny, unknown, results, hold_seconds: hold, drop_meta: dropMeta } = config
    return governedWith({
      url,
      client: this.#client,
      reporter,
      secret: key,
      omitKey,
      agentId: this.#caller.agentId,
      upstream: this.name,
      trust,
      settings: { deny, unknown, results, holdMs: hold * 1000, dropMeta },
      mappings: settings.mappings,
      // A call may run for longer than a credential is valid.
      afterwards: (work) => presented.run(undefined, work),
      warn: (text) => warn(`${this.name}: ${text}`),
    })
  }

  /** The way of requests that belong to no session. */
  connection(): Connection {
    const { upstream } = this
    const warn = (text: string) => this.#gateway.warn(`${this.name}: ${text}`)
    if (this.#connection) return this.#connection
    const receivers = {
      observe: (message: Message) => this.session.observe(message),
      // Clients of 2026-07-28 are told what they listen for.
      tell: () => undefined,
    }
    if (upstream.kind === 'remote')
      return (this.#connection = new AnyRevision(new Remote({ ...upstream, warn }), receivers))
    const shared = new SharedChild(this.start(upstream), warn)
    this.#shared = shared
    // The next request starts it again.
    void shared.ended.finally(() => {
      if (this.#shared === shared) this.#shared = this.#connection = null
    })
    return (this.#connection = new AnyRevision(shared, receivers))
  }

  start(command: Extract<UpstreamSettings, { kind: 'command' }>): Child {
    return startChild(command, this.#gateway.env)
  }

  async stop(): Promise<void> {
    await this.session.settled()
    await this.#connection?.stop()
  }
}
