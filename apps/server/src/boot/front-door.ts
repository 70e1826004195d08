import { randomUUID } from 'node:crypto'
import type { WaitOptions } from '@remit/core/db/open'
import { unavailable } from '@remit/core/db'
import { problemResponse } from '@remit/core/http'
import { waitingApp } from '@remit/core/server'
import type { Remit } from '@remit/core/server'
import { VERSION } from '../settings/version.ts'
import type { Waiting } from './boot.ts'
import { listen } from './listen.ts'
import type { Listener, ListenOptions } from './listen.ts'
import { migrationsOf } from './tables.ts'

type App = Pick<Remit['app'], 'fetch'>

/**
 * The port of the server. It opens when the product serves, or earlier, when migrations are pending
 * (`REMIT_MIGRATE=check`): orchestrators then see a live server that is not ready.
 */
export class FrontDoor {
  readonly #options: ListenOptions
  #app: App | null = null
  #listener: Listener | null = null

  constructor(options: ListenOptions) {
    this.#options = options
  }

  /** Opens the port unless it is open: every answer is 503 until `serve`. */
  async open(): Promise<void> {
    if (this.#listener) return
    await this.serve({
      fetch: () => problemResponse(unavailable('database_unavailable'), randomUUID()),
    })
  }

  /** Serves `app` from now on. */
  async serve(app: App): Promise<Listener> {
    this.#app = app
    const current: App['fetch'] = (...request) => (this.#app ?? app).fetch(...request)
    return (this.#listener ??= await listen({ fetch: current }, this.#options))
  }

  /** Returns how to wait for migrations: not ready, with the reason in the log. */
  wait(signal: AbortSignal): (waiting: Waiting) => WaitOptions {
    return ({ config, db, entitlement, log, warnings }) => ({
      signal,
      onWait: async (reason) => {
        log.warn(`not ready: ${reason}`)
        const { edition, evaluation, modules } = entitlement
        await this.serve(
          waitingApp({
            db,
            version: VERSION,
            edition,
            evaluation,
            modules: ['core', ...modules.map(({ name }) => name)],
            migrationSets: migrationsOf(modules),
            warnings: () => warnings().map(({ text }) => text),
            corsOrigins: config.REMIT_CORS_ORIGINS,
          }),
        )
      },
    })
  }

  async close(): Promise<void> {
    await this.#listener?.stop()
  }
}
