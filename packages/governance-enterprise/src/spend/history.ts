import type { SpendHistory, SpendLimit } from '@remit/contract'
import { fromMicroUsd } from '@remit/contract/values'
import { isoTime } from '@remit/core/base'
import { on } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
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
  const limitUsd = window === 'day' ? limit.daily_usd : limit.monthly_usd
  const { step, read, add } = COURSES[window]
  const samples = await read(db, orgId, limit.agent_id, isoTime(from), isoTime(now))
  let last: Totals = { spent_micro: 0, held_micro: 0 }
  const data = ends(from, now, step).map((end) => {
    last = add(last, samples.get(isoTime(end - step).slice(0, SAMPLE_LENGTHS[window])))
    return point(end, last)
  })
  return { data: [...data, current], limit_usd: limitUsd }
}

/** Letters of a time that name the sample of a step: its hour or its day. */
const SAMPLE_LENGTHS = { day: 13, month: 10 } as const

interface Course {
  readonly step: number
  /** The samples of a period by the name of their step. */
  readonly read: (
    db: AnyDatabase,
    orgId: string,
    agentId: string,
    from: string,
    to: string,
  ) => Promise<ReadonlyMap<string, Totals>>
  /** The totals at the end of a step, from those before it and its sample. */
  readonly add: (before: Totals, sample: Totals | undefined) => Totals
}

const COURSES: Readonly<Record<'day' | 'month', Course>> = {
  day: {
    step: HOUR_MS,
    async read(db, orgId, agentId, from, to) {
      const rows = await on<Tables>(db)
        .selectFrom('spend_hour')
        .select(['hour', 'spent_micro', 'held_micro'])
        .where('org_id', '=', orgId)
        .where('agent_id', '=', agentId)
        .where('hour', '>=', from.slice(0, SAMPLE_LENGTHS.day))
        .where('hour', '<=', to.slice(0, SAMPLE_LENGTHS.day))
        .execute()
      return new Map(rows.map((row) => [row.hour, row]))
    },
    // A sample is a total; an hour without one has the totals of the hour before.
    add: (before, sample) => sample ?? before,
  },
  month: {
    step: DAY_MS,
    async read(db, orgId, agentId, from, to) {
      const rows = await on<Tables>(db)
        .selectFrom('spend_total')
        .select(['window_id', 'spent_micro', 'held_micro'])
        .where('org_id', '=', orgId)
        .where('agent_id', '=', agentId)
        .where('window_id', '>=', from.slice(0, SAMPLE_LENGTHS.month))
        .where('window_id', '<=', to.slice(0, SAMPLE_LENGTHS.month))
        .execute()
      return new Map(rows.map((row) => [row.window_id, row]))
    },
    add: (before, day) => ({
      spent_micro: before.spent_micro + (day?.spent_micro ?? 0),
      held_micro: before.held_micro + (day?.held_micro ?? 0),
    }),
  },
}

/** The ends of the whole steps between two times. */
const ends = (from: number, now: number, step: number): number[] =>
  Array.from({ length: Math.floor((now - from) / step) }, (_, i) => from + (i + 1) * step)

const point = (at: number, { spent_micro, held_micro }: Totals): Points[number] => ({
  at: isoTime(at),
  spent_usd: fromMicroUsd(spent_micro),
  held_usd: fromMicroUsd(held_micro),
})
