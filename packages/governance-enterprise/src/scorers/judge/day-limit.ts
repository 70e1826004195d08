import { isoTime, on } from '@remit/core'
import type { AnyDatabase, Deps } from '@remit/core'
import { sql } from 'kysely'
import type { Tables } from '../../tables/schema.ts'
import { JudgeFailure } from './failure.ts'
import type { DailyLimit } from './judges.ts'
import { PARTS_OF_USD } from './usage.ts'

const PARTS_OF_MICRO = PARTS_OF_USD / 1e6
const KEPT_DAYS = 35
const DAY_MS = 24 * 60 * 60 * 1000

/** One counted call, with its maximum cost in micro-USD. */
export interface CountedCall {
  readonly day: string
  readonly micro: number
}

/**
 * The daily (UTC) limit of judge calls of one organization, for one run. It is counted in the
 * database and so shared by all processes. A call reserves its maximum cost before it starts;
 * reservations of a process that died stay counted.
 */
export class DayLimit {
  readonly #deps: Pick<Deps, 'db' | 'clock' | 'log'>
  readonly #orgId: string
  readonly #limit: DailyLimit
  /** The day that this run found exhausted, which is not queried again. */
  #usedUp: string | null = null

  constructor(deps: Pick<Deps, 'db' | 'clock' | 'log'>, orgId: string, limit: DailyLimit) {
    this.#deps = deps
    this.#orgId = orgId
    this.#limit = limit
  }

  /**
   * Counts a call with a maximum cost of `price` (see `priceOf`). Throws `JudgeFailure` with
   * `judge_daily_calls_exceeded` or `judge_daily_cost_exceeded`, and counts nothing, if it exceeds
   * the limit.
   */
  async take(price: number): Promise<CountedCall> {
    const { db, clock } = this.#deps
    const day = isoTime(clock.now()).slice(0, 10)
    const micro = Math.ceil(price / PARTS_OF_MICRO)
    const { calls, costMicro } = this.#limit
    if (day === this.#usedUp) throw this.#tooManyCalls(day)
    const most = costMicro ?? Number.MAX_SAFE_INTEGER
    if (calls > 0 && micro <= most) {
      const { rows } = await sql<{ calls: number }>`
        insert into judge_day (org_id, day, calls, cost_micro)
        values (${this.#orgId}, ${day}, 1, ${micro})
        on conflict (org_id, day) do update
          set calls = judge_day.calls + 1, cost_micro = judge_day.cost_micro + excluded.cost_micro
          where judge_day.calls < ${calls} and judge_day.cost_micro + excluded.cost_micro <= ${most}
        returning calls`.execute(db)
      if (rows.length > 0) return { day, micro }
    }
    throw await this.#refusal(day)
  }

  /**
   * Replaces the reserved cost of a finished call by `price`; a call that was not sent is not
   * counted.
   */
  async settle({ day, micro }: CountedCall, price: number, isSent: boolean): Promise<void> {
    const { db, log } = this.#deps
    const spent = Math.ceil(price / PARTS_OF_MICRO)
    await sql`update judge_day set calls = calls - ${isSent ? 0 : 1},
        cost_micro = cost_micro + ${spent - micro}
      where org_id = ${this.#orgId} and day = ${day}`
      .execute(db)
      .catch((error: unknown) =>
        log.error(
          { err: error },
          'settling the cost of a judge call failed; the daily limit counts its maximum cost',
        ),
      )
  }

  async #refusal(day: string): Promise<JudgeFailure> {
    const row = await on<Tables>(this.#deps.db)
      .selectFrom('judge_day')
      .select('calls')
      .where('org_id', '=', this.#orgId)
      .where('day', '=', day)
      .executeTakeFirst()
    if ((row?.calls ?? 0) >= this.#limit.calls) {
      this.#usedUp = day
      return this.#tooManyCalls(day)
    }
    return new JudgeFailure(
      'judge_daily_cost_exceeded',
      `the call would exceed the daily cost limit of the organization on ${day} (UTC)`,
    )
  }

  #tooManyCalls(day: string): JudgeFailure {
    return new JudgeFailure(
      'judge_daily_calls_exceeded',
      `the organization has reached its limit of ${this.#limit.calls} calls on ${day} (UTC)`,
    )
  }
}

/** Deletes the counts of old days. */
export async function forgetDays(db: AnyDatabase, nowMs: number): Promise<void> {
  await on<Tables>(db)
    .deleteFrom('judge_day')
    .where('day', '<', isoTime(nowMs - KEPT_DAYS * DAY_MS).slice(0, 10))
    .execute()
}
