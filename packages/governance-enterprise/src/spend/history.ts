import { fromMicroUsd } from '@remit/contract'
import type { SpendHistory, SpendLimit } from '@remit/contract'
import { isoTime, on } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import type { Tables } from '../tables/schema.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

type Points = SpendHistory['data']

interface Totals {
  readonly spent_micro: number
  readonly held_micro: number
}

/**
 * Returns the course of a window until now. Each point has the totals at its end; the last one is the
 * usage that the limit itself shows.
 */
export async function historyOf(
  db: AnyDatabase,
  orgId: string,
  limit: SpendLimit,
  window: 'day' | 'month',
  now: number,
): Promise<SpendHistory> {
  const usage = limit.spent[window]
  const current = { at: isoTime(now), spent_usd: usage.usd, held_usd: usage.held_usd }
  const from = Date.parse(usage.from)
  const data =
    window === 'day'
      ? await byHour(db, orgId, limit.agent_id, from, now)
      : await byDay(db, orgId, limit.agent_id, from, now)
  const limitUsd = window === 'day' ? limit.daily_usd : limit.monthly_usd
  return { data: [...data, current], limit_usd: limitUsd }
}

/** An hour without a sample has the totals of the one before. */
async function byHour(
  db: AnyDatabase,
  orgId: string,
  agentId: string,
  from: number,
  now: number,
): Promise<Points> {
  const rows = await on<Tables>(db)
    .selectFrom('spend_hour')
    .select(['hour', 'spent_micro', 'held_micro'])
    .where('org_id', '=', orgId)
    .where('agent_id', '=', agentId)
    .where('hour', '>=', isoTime(from).slice(0, 13))
    .where('hour', '<=', isoTime(now).slice(0, 13))
    .execute()
  const samples = new Map(rows.map((row) => [row.hour, row]))
  let last: Totals = { spent_micro: 0, held_micro: 0 }
  return ends(from, now, HOUR_MS).map((end) => {
    last = samples.get(isoTime(end - HOUR_MS).slice(0, 13)) ?? last
    return point(end, last)
  })
}

async function byDay(
  db: AnyDatabase,
  orgId: string,
  agentId: string,
  from: number,
  now: number,
): Promise<Points> {
  const rows = await on<Tables>(db)
    .selectFrom('spend_total')
    .select(['window_id', 'spent_micro', 'held_micro'])
    .where('org_id', '=', orgId)
    .where('agent_id', '=', agentId)
    .where('window_id', '>=', isoTime(from).slice(0, 10))
    .where('window_id', '<=', isoTime(now).slice(0, 10))
    .execute()
  const days = new Map(rows.map((row) => [row.window_id, row]))
  const sum = { spent_micro: 0, held_micro: 0 }
  return ends(from, now, DAY_MS).map((end) => {
    const day = days.get(isoTime(end - DAY_MS).slice(0, 10))
    sum.spent_micro += day?.spent_micro ?? 0
    sum.held_micro += day?.held_micro ?? 0
    return point(end, sum)
  })
}

/** The ends of the whole steps between two times. */
const ends = (from: number, now: number, step: number): number[] =>
  Array.from({ length: Math.floor((now - from) / step) }, (_, i) => from + (i + 1) * step)

const point = (at: number, { spent_micro, held_micro }: Totals): Points[number] => ({
  at: isoTime(at),
  spent_usd: fromMicroUsd(spent_micro),
  held_usd: fromMicroUsd(held_micro),
})
