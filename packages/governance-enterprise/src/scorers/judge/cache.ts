import { isoTime } from '@remit/core'
import type { Deps } from '@remit/core'
import { findVerdicts, forgetVerdicts, putVerdicts } from './cache-store.ts'
import { forgetDays } from './day-limit.ts'
import type { JudgeVerdict } from './verdict.ts'

const KEPT_MS = 7 * 24 * 60 * 60 * 1000
const PRUNE_MS = 60 * 60 * 1000
const PRUNED_AT_ONCE = 500

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
  read(orgId: string, keys: readonly string[]): Promise<Map<string, string>> {
    const { db, clock } = this.#deps
    return findVerdicts(db, orgId, keys, isoTime(clock.now() - KEPT_MS))
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
    await putVerdicts(db, rows).catch((error: unknown) =>
      log.error({ err: error }, 'storing judge verdicts failed'),
    )
  }

  async prune(): Promise<void> {
    const { db, clock } = this.#deps
    const before = isoTime(clock.now() - KEPT_MS)
    await forgetDays(db, clock.now())
    while (!this.#isClosed && (await forgetVerdicts(db, before, PRUNED_AT_ONCE)) > 0);
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
