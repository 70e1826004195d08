import { bulkInsert, isoTime, on } from '@remit/core'
import type { Deps } from '@remit/core'
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
  #timer: NodeJS.Timeout | undefined
  #pruning: Promise<void> | null = null
  #isClosed = false

  constructor(deps: Pick<Deps, 'db' | 'clock' | 'log'>) {
    this.#deps = deps
  }

  start(): void {
    this.#timer = setInterval(() => this.#beginPruning(), PRUNE_MS).unref()
    this.#beginPruning()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await this.#pruning
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
    const { db, clock } = this.#deps
    await forgetDays(db, clock.now())
    const before = this.#oldest()
    for (let deleted = 1n; deleted > 0n && !this.#isClosed;) {
      const { numAffectedRows = 0n } = await sql`delete from judge_verdict
        where (org_id, cache_key) in (select org_id, cache_key from judge_verdict
          where created_at <= ${before} limit ${ROWS_AT_ONCE})`.execute(db)
      deleted = numAffectedRows
    }
  }

  #oldest(): string {
    return isoTime(this.#deps.clock.now() - KEPT_MS)
  }

  #beginPruning(): void {
    this.#pruning ??= this.prune()
      .catch((error: unknown) =>
        this.#deps.log.error({ err: error }, 'deleting old judge verdicts failed'),
      )
      .finally(() => {
        this.#pruning = null
      })
  }
}
