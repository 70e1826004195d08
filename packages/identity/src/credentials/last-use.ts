import { isoTime, upTo } from '@remit/core/base'
import { isDistributed } from '@remit/core/db'
import type { CredentialHolder } from '@remit/core/keys'
import type { Deps } from '@remit/core/module'
import { LRUCache } from 'lru-cache'
import type { CredentialUseRow } from '../tables/credentials.ts'
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
  #waiting = new Map<string, CredentialUseRow>()
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(deps: Pick<Deps, 'db' | 'clock' | 'log'>) {
    this.#deps = deps
  }

  start(): void {
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS).unref()
  }

  note({ id, orgId }: Pick<CredentialHolder, 'id' | 'orgId'>): void {
    const now = this.#deps.clock.now()
    const minute = now - (now % MINUTE_MS)
    if (this.#known.get(id) === minute) return
    this.#known.set(id, minute)
    this.#waiting.set(id, { id, org_id: orgId, used_at: isoTime(minute) })
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
    const uses = [...this.#waiting.values()]
    if (uses.length === 0) return
    this.#waiting = new Map()
    for (const part of await this.#partsOf(uses)) {
      try {
        for (let start = 0; start < part.length; start += ROWS_A_STATEMENT)
          await putUses(this.#deps.db, part.slice(start, start + ROWS_A_STATEMENT))
      } catch (error) {
        this.#deps.log.warn({ err: error }, 'recording the last use of credentials failed')
        for (const use of part)
          if (!this.#waiting.has(use.id) && this.#waiting.size < MAX_KNOWN)
            this.#waiting.set(use.id, use)
      }
    }
  }

  /** Rows that are written together: on a distributed database, those of an organization. */
  async #partsOf(uses: readonly CredentialUseRow[]): Promise<CredentialUseRow[][]> {
    if (!(await isDistributed(this.#deps.db))) return [[...uses]]
    return Object.values(Object.groupBy(uses, ({ org_id }) => org_id)).flatMap((rows) =>
      rows ? [rows] : [],
    )
  }
}
