import { inPart, isoTime, on } from '@remit/core'
import type { AnyDatabase, Deps, Part } from '@remit/core'
import { sql } from 'kysely'
import type { Tables } from '../../tables/schema.ts'
import { JudgeFailure } from './failure.ts'
import type { Judges } from './judges.ts'
import { PARTS_OF_MICRO } from './usage.ts'

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
  readonly #calls: number
  readonly #maxMicro: number
  /** The day that this run found exhausted, which is not queried again. */
  #usedUp: string | null = null

  constructor(
    deps: Pick<Deps, 'db' | 'clock' | 'log'>,
    orgId: string,
    { calls, cost_usd: usd }: Judges['daily'],
  ) {
    this.#deps = deps
    this.#orgId = orgId
    this.#calls = calls
    this.#maxMicro = usd === undefined ? Number.MAX_SAFE_INTEGER : Math.floor(usd * 1e6)
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
    if (day !== this.#usedUp && this.#calls > 0 && micro <= this.#maxMicro) {
      const { rows } = await sql`
        insert into judge_day (org_id, day, calls, cost_micro)
        values (${this.#orgId}, ${day}, 1, ${micro})
        on conflict (org_id, day) do update
          set calls = judge_day.calls + 1, cost_micro = judge_day.cost_micro + excluded.cost_micro
          where judge_day.calls < ${this.#calls}
            and judge_day.cost_micro + excluded.cost_micro <= ${this.#maxMicro}
        returning calls`.execute(db)
      if (rows.length > 0) return { day, micro }
    }
    if (day !== this.#usedUp && (await this.#callsOf(day)) < this.#calls)
      throw new JudgeFailure(
        'judge_daily_cost_exceeded',
        `the call would exceed the daily cost limit of the organization on ${day} (UTC)`,
      )
    this.#usedUp = day
    throw new JudgeFailure(
      'judge_daily_calls_exceeded',
      `the organization has reached its limit of ${this.#calls} calls on ${day} (UTC)`,
    )
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

  async #callsOf(day: string): Promise<number> {
    const row = await on<Tables>(this.#deps.db)
      .selectFrom('judge_day')
      .select('calls')
      .where('org_id', '=', this.#orgId)
      .where('day', '=', day)
      .executeTakeFirst()
    return row?.calls ?? 0
  }
}

/** Deletes the counts of old days. */
export async function forgetDays(db: AnyDatabase, part: Part, nowMs: number): Promise<void> {
  await on<Tables>(db)
    .deleteFrom('judge_day')
    .where(inPart(part))
    .where('day', '<', isoTime(nowMs - KEPT_DAYS * DAY_MS).slice(0, 10))
    .execute()
}
