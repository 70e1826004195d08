import { randomUUID } from 'node:crypto'
import { Periodic } from '@remit/core/base'
import { eachPart, inPart } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import type { Outbound } from '@remit/core/net'
import { SINKS } from './changes.ts'
import { listSinks } from './store.ts'
import { streamSink } from './stream.ts'
import type { StreamDeps } from './stream.ts'

/** Milliseconds between two looks at the ledgers with sinks. */
const LOOK_MS = 1_000
/** Milliseconds between two searches for organizations with sinks; signals may be lost. */
const SEARCH_MS = 30_000
/** Sinks that one process serves at the same time. */
const MOST_AT_ONCE = 64

/**
 * Streams ledgers to sinks in the background, off the decision path. A sink belongs to the process that
 * claims it; organizations are served one by one, so that the failure of one does not stop another.
 */
export class SinkStreams {
  readonly #deps: StreamDeps & Pick<Deps, 'signals'>
  readonly #holder = randomUUID()
  /** Organizations with sinks, in the order of their next turn. */
  readonly #orgs = new Set<string>()
  readonly #running = new Map<string, Promise<void>>()
  readonly #closing = new AbortController()
  readonly #looks: Periodic
  #unsubscribe = (): void => undefined
  #searchedAt = -Infinity

  constructor(deps: Deps, outbound: Outbound) {
    const { db, ledger, clock, secrets, log, signals } = deps
    this.#deps = { db, ledger, clock, secrets, log, signals, outbound }
    this.#looks = new Periodic(
      LOOK_MS,
      () => this.#look(),
      (error) => log.error({ err: error }, 'looking for entries for sinks failed'),
    )
  }

  start(): void {
    this.#unsubscribe = this.#deps.signals.subscribe(SINKS, (orgId) => {
      this.#orgs.add(orgId)
      void this.#looks.run()
    })
    this.#looks.start()
  }

  /** Starts no further batches and waits for the running ones. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#unsubscribe()
    await this.#looks.close()
    await Promise.all(this.#running.values())
  }

  async #look(): Promise<void> {
    if (performance.now() - this.#searchedAt >= SEARCH_MS) {
      for (const id of await this.#organizations()) this.#orgs.add(id)
      this.#searchedAt = performance.now()
    }
    // A snapshot: served organizations move to the end.
    for (const orgId of Array.from(this.#orgs)) {
      if (this.#closing.signal.aborted || this.#running.size >= MOST_AT_ONCE) return
      this.#orgs.delete(orgId)
      try {
        if (await this.#serve(orgId)) this.#orgs.add(orgId)
      } catch (error) {
        this.#orgs.add(orgId)
        this.#deps.log.warn({ err: error, orgId }, 'looking for entries for sinks failed')
      }
    }
  }

  /** Organizations that may have sinks. */
  async #organizations(): Promise<string[]> {
    const { db, log } = this.#deps
    const parts = await eachPart(
      db,
      (part) =>
        db
          .selectFrom('organization')
          .select('id')
          .where(inPart(part, 'id'))
          .where('plan', '=', 'enterprise')
          .execute(),
      (error, organizations) =>
        log.warn({ err: error, organizations }, 'looking for organizations with sinks failed'),
    )
    return parts.flat().map(({ id }) => id)
  }

  /** Starts to send what is due; returns whether the organization has sinks. */
  async #serve(orgId: string): Promise<boolean> {
    const { db, ledger, clock } = this.#deps
    const rows = (await listSinks(db, orgId)).filter(({ enabled }) => enabled === 1)
    if (rows.length === 0) return false
    const { size } = await ledger.head(orgId)
    for (const { id, next_seq: next, retry_at: retryAt } of rows)
      if (next < size && retryAt <= clock.now()) this.#begin(orgId, id)
    return true
  }

  #begin(orgId: string, id: string): void {
    const key = `${orgId}/${id}`
    if (this.#running.has(key)) return
    const { log } = this.#deps
    const sink = { org_id: orgId, id }
    const running = streamSink(this.#deps, sink, this.#holder, this.#closing.signal)
      .catch((error: unknown) => log.error({ err: error, orgId, sink: id }, 'a sink task failed'))
      .finally(() => this.#running.delete(key))
    this.#running.set(key, running)
  }
}
