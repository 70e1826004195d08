import { bulkInsert, deleteInBatches, eachPart, isoTime, on, Periodic } from '@remit/core'
import type { Deps, Part } from '@remit/core'
import { sql } from 'kysely'
import type { Tables } from '../../tables/schema.ts'
import { forgetDays } from './day-limit.ts'
import type { JudgeVerdict } from './verdict.ts'

const KEPT_MS = 7 * 24 * 60 * 60 * 1000
const PRUNE_MS = 60 * 60 * 1000
const ROWS_AT_ONCE = 500
const COLUMNS = { org_id: 'text', cache_key: 'text', verdict: 'text', created_at: 'text' } as const

/** Verdicts of the last seven days, separate per organization. Failures are never stored. */
export class VerdictCache {
  readonly #deps: Pick<Deps, 'db' | 'clock' | 'log'>
  readonly #pruning: Periodic
  readonly #closing = new AbortController()

  constructor(deps: Pick<Deps, 'db' | 'clock' | 'log'>) {
    this.#deps = deps
    this.#pruning = new Periodic(
      PRUNE_MS,
      () => this.prune(),
      (error) => deps.log.error({ err: error }, 'deleting old judge verdicts failed'),
    )
  }

  start(): void {
    this.#pruning.start()
    void this.#pruning.run()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#pruning.close()
  }

  /** Stored verdicts by key, as JSON text. */
  async read(orgId: string, keys: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    for (let start = 0; start < keys.length; start += ROWS_AT_ONCE) {
      const rows = await on<Tables>(this.#deps.db)
        .selectFrom('judge_verdict')
        .select(['cache_key', 'verdict'])
        .where('org_id', '=', orgId)
        .where('cache_key', 'in', keys.slice(start, start + ROWS_AT_ONCE))
        .where('created_at', '>', this.#oldest())
        .execute()
      for (const row of rows) found.set(row.cache_key, row.verdict)
    }
    return found
  }

  /** Stores new verdicts. A failure is logged, and the verdict is requested again next time. */
  async keep(orgId: string, verdicts: ReadonlyMap<string, JudgeVerdict>): Promise<void> {
    const { db, clock, log } = this.#deps
    const created_at = isoTime(clock.now())
    const rows = [...verdicts].map(([cache_key, verdict]) => ({
      org_id: orgId,
      cache_key,
      verdict: JSON.stringify(verdict),
      created_at,
    }))
    const replacing = `on conflict (org_id, cache_key) do update
      set verdict = excluded.verdict, created_at = excluded.created_at`
    await bulkInsert(db, 'judge_verdict', COLUMNS, rows, replacing).catch((error: unknown) =>
      log.error({ err: error }, 'storing judge verdicts failed'),
    )
  }

  async prune(): Promise<void> {
    const { db, clock, log } = this.#deps
    const pruneOne = async (part: Part) => {
      await forgetDays(db, part, clock.now())
      await deleteInBatches(db, part, this.#closing.signal, {
        table: 'judge_verdict',
        key: ['org_id', 'cache_key'],
        where: sql`created_at <= ${this.#oldest()}`,
      })
    }
    await eachPart(db, pruneOne, (error, organizations) =>
      log.error({ err: error, organizations }, 'deleting old judge verdicts failed'),
    )
  }

  #oldest(): string {
    return isoTime(this.#deps.clock.now() - KEPT_MS)
  }
}
