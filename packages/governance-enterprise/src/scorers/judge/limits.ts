import { invalid, isoTime } from '@remit/core/base'
import { orgTable } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { limitsOf } from '@remit/core/orgs/settings'
import { findOrganizationById } from '@remit/core/orgs'
import { sql } from 'kysely'
import type { JudgeDayRow } from '../../tables/judges.ts'
import type { Tables } from '../../tables/schema.ts'
import { JudgeFailure } from './post.ts'
import type { Judge, Judges } from './judges.ts'
import { PARTS_OF_MICRO } from './usage.ts'

/**
 * A limit of calls. A call reserves its maximum price (see `priceOf`) before it starts, so that
 * concurrent calls cannot exceed the limit together. Rejects with `JudgeFailure` if it would.
 */
export type CallLimit = (price: number) => Promise<Settle>

/** Replaces the reserved price of a call by its actual one; null if the call was not sent. */
export type Settle = (spent: number | null) => Promise<void> | void

/** The cost limit of a request. A call that does not fit waits for the unused price of others. */
export function costBudget(limit: number): CallLimit {
  /** Neither spent nor reserved. */
  let left = limit
  let running = 0
  let settled = Promise.withResolvers<void>()
  return async (price) => {
    for (;;) {
      if (price <= left) break
      if (running === 0)
        throw new JudgeFailure('judge_budget_exceeded', 'the call would exceed the cost limit')
      await settled.promise
    }
    left -= price
    running++
    return (spent) => {
      left += price - (spent ?? 0)
      running--
      settled.resolve()
      settled = Promise.withResolvers()
    }
  }
}

/**
 * The limit of the judges file, or that of the organization if it is lower; 0 USD permits no call.
 * Throws `invalid_request` for a judge whose cost is unknown: it would never reach the limit.
 */
export async function dailyOf(
  db: Deps['db'],
  orgId: string,
  daily: Judges['daily'],
  { alias, prices }: Judge,
): Promise<Judges['daily']> {
  const own = limitsOf(await findOrganizationById(db, orgId)).judge_usd_per_day
  if (own === undefined) return daily
  if (own > 0 && !prices) {
    const reason = `must be a judge with prices, because the organization has the limit judge_usd_per_day; ${alias} has none`
    throw invalid('params.judge', reason)
  }
  return { ...daily, cost_usd: Math.min(own, daily.cost_usd ?? own) }
}

const UNSETTLED =
  'settling the cost of a judge call failed; the daily limit counts its maximum cost'
const { find } = orgTable<Tables, 'judge_day'>('judge_day', 'day')

/**
 * The daily (UTC) limit of an organization, for one request. It is counted in the database and so
 * shared by all processes; reservations of a process that died stay counted.
 */
export function dayLimit(
  { db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>,
  orgId: string,
  { calls: maxCalls, cost_usd: usd }: Judges['daily'],
): CallLimit {
  const maxMicro = usd === undefined ? Number.MAX_SAFE_INTEGER : Math.floor(usd * 1e6)
  /** The counts of a day without further calls, which are not queried again. */
  let usedUp: JudgeDayRow | undefined

  /** Throws if the call would exceed a limit. */
  async function check(day: string, micro: number): Promise<void> {
    const row = usedUp?.day === day ? usedUp : await find(db, orgId, day)
    const { calls, cost_micro } = row ?? { calls: 0, cost_micro: 0 }
    if (calls >= maxCalls) {
      usedUp = row
      const reason = `the organization has reached its limit of ${maxCalls} calls on ${day} (UTC)`
      throw new JudgeFailure('judge_daily_calls_exceeded', reason)
    }
    if (maxMicro === 0 || cost_micro + micro > maxMicro)
      throw new JudgeFailure(
        'judge_daily_cost_exceeded',
        `the call would exceed the daily cost limit of the organization on ${day} (UTC)`,
      )
  }

  /** Returns false, and counts nothing, if other calls have reached a limit since the check. */
  async function count(day: string, micro: number): Promise<boolean> {
    const { rows } = await sql`
      insert into judge_day (org_id, day, calls, cost_micro) values (${orgId}, ${day}, 1, ${micro})
      on conflict (org_id, day) do update
        set calls = judge_day.calls + 1, cost_micro = judge_day.cost_micro + excluded.cost_micro
        where judge_day.calls < ${maxCalls}
          and judge_day.cost_micro + excluded.cost_micro <= ${maxMicro}
      returning calls`.execute(db)
    return rows.length > 0
  }

  return async (price) => {
    const day = isoTime(clock.now()).slice(0, 10)
    const micro = Math.ceil(price / PARTS_OF_MICRO)
    do await check(day, micro)
    while (!(await count(day, micro)))
    return async (spent) => {
      const unused = micro - Math.ceil((spent ?? 0) / PARTS_OF_MICRO)
      await sql`update judge_day
        set calls = calls - ${spent === null ? 1 : 0}, cost_micro = cost_micro - ${unused}
        where org_id = ${orgId} and day = ${day}`
        .execute(db)
        .catch((error: unknown) => log.error({ err: error }, UNSETTLED))
    }
  }
}
