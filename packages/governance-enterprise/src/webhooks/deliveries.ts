import { isoTime } from '@remit/core/base'
import { Cleanup, eachPart } from '@remit/core/db'
import type { Part } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { deliver } from './deliver.ts'
import { claimDue, forgetFinished } from './deliveries-store.ts'
import { WEBHOOKS_TOPIC } from './outbox.ts'
import type { DeliveryRow } from '../tables/webhooks.ts'
import { AttemptLimits } from './attempt-limits.ts'

const POLL_MS = 2_000
/** Longer than any attempt: afterwards the claiming process is considered dead. */
const LEASE_MS = 60_000
const KEPT_MS = 7 * 24 * 60 * 60 * 1000
const CANDIDATES = 200

/** Sends the messages of the outbox at least once each, in the background. */
export class Deliveries {
  readonly #deps: Deps
  readonly #turns = new AttemptLimits({ total: 64, each: 8 })
  readonly #running = new Set<Promise<void>>()
  readonly #closing = new AbortController()
  readonly #cleanup: Cleanup
  #timer: NodeJS.Timeout | undefined
  #unsubscribe = (): void => undefined
  #looking: Promise<void> | null = null
  #isWoken = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#cleanup = new Cleanup(deps, 'webhook deliveries', (part, signal) =>
      forgetFinished(deps.db, part, isoTime(deps.clock.now() - KEPT_MS), signal),
    )
  }

  start(): void {
    this.#unsubscribe = this.#deps.signals.subscribe(WEBHOOKS_TOPIC, () => this.#wake())
    // Retries become due, and other processes abandon messages.
    this.#timer = setInterval(() => this.#wake(), POLL_MS).unref()
    this.#cleanup.start()
  }

  /**
   * Starts no further attempts and waits for the running ones, so that delivered messages are not
   * repeated.
   */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#unsubscribe()
    clearInterval(this.#timer)
    await this.#cleanup.close()
    await this.#looking
    await Promise.all(this.#running)
  }

  #wake(): void {
    this.#isWoken = true
    this.#looking ??= this.#look()
      .catch((error: unknown) =>
        this.#deps.log.error({ err: error }, 'reading webhook deliveries failed'),
      )
      .finally(() => {
        this.#looking = null
      })
  }

  async #look(): Promise<void> {
    while (this.#isWoken && !this.#closing.signal.aborted && !this.#turns.isFull) {
      this.#isWoken = false
      await eachPart(
        this.#deps.db,
        (part) => this.#claim(part),
        (error, organizations) =>
          this.#deps.log.error({ err: error, organizations }, 'reading webhook deliveries failed'),
      )
    }
  }

  async #claim(part: Part): Promise<void> {
    const now = this.#deps.clock.now()
    const claimed = await claimDue(this.#deps.db, {
      part,
      now: isoTime(now),
      leaseEnd: isoTime(now + LEASE_MS),
      among: CANDIDATES,
      choose: (due) => this.#turns.choose(due),
      except: this.#turns.full(),
    })
    // There may be more; the end of every attempt polls again.
    if (claimed.length > 0) this.#isWoken = true
    for (const row of claimed) this.#begin(row)
  }

  #begin(row: DeliveryRow): void {
    this.#turns.begin(row.org_id)
    this.#track(
      deliver(this.#deps, row).finally(() => {
        this.#turns.end(row.org_id)
        this.#wake()
      }),
    )
  }

  /** Runs work in the background; failures are logged and retried after the lease. */
  #track(work: Promise<void>): void {
    const logged: Promise<void> = work
      .catch((error: unknown) => this.#deps.log.error({ err: error }, 'a webhook task failed'))
      .finally(() => this.#running.delete(logged))
    this.#running.add(logged)
  }
}
