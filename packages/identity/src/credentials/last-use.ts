import type { Deps } from '@remit/core'
import { isoTime, upTo } from '@remit/core'
import { LRUCache } from 'lru-cache'
import { putUses } from './store.ts'

const MINUTE_MS = 60_000
const FLUSH_MS = 10_000
/** The maximum number of cached credentials; beyond it some are written more often. */
const MAX_KNOWN = 20_000
const ROWS_A_STATEMENT = 1_000

/** Collects the times of credential uses and writes them periodically, to the minute. */
export class LastUse {
  readonly #deps: Pick<Deps, 'db' | 'clock' | 'log'>
  /** The minute (milliseconds) of each recorded use. */
  readonly #known = new LRUCache<string, number>(upTo(MAX_KNOWN))
  #waiting = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(deps: Pick<Deps, 'db' | 'clock' | 'log'>) {
    this.#deps = deps
  }

  start(): void {
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS).unref()
  }

  note(id: string): void {
    const now = this.#deps.clock.now()
    const minute = now - (now % MINUTE_MS)
    if (this.#known.get(id) === minute) return
    this.#known.set(id, minute)
    this.#waiting.set(id, minute)
  }

  /** Writes the collected uses; failed writes are retried. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write())
    return this.#flushing
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  async #write(): Promise<void> {
    const uses = [...this.#waiting].map(([id, at]) => ({ id, used_at: isoTime(at) }))
    if (uses.length === 0) return
    this.#waiting = new Map()
    try {
      for (let start = 0; start < uses.length; start += ROWS_A_STATEMENT)
        await putUses(this.#deps.db, uses.slice(start, start + ROWS_A_STATEMENT))
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'recording the last use of credentials failed')
      for (const { id, used_at } of uses)
        if (!this.#waiting.has(id) && this.#waiting.size < MAX_KNOWN)
          this.#waiting.set(id, Date.parse(used_at))
    }
  }
}
