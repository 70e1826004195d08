import { usage } from '@remit/contract'
import type { Meter } from '@remit/contract'
import { invalid, isoTime } from '@remit/core/base'
import { on } from '@remit/core/db'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps, UsageCounts } from '@remit/core/module'
import type { Tables } from '../tables/schema.ts'
import { readUsage } from './store.ts'

const HOUR_MS = 60 * 60 * 1000
const DEFAULT_HOURS = 24
const MAX_HOURS = 800
/** Letters of a time that name its hour. */
const HOUR = 13

/** The counts of the usage, for the API and for the operator. */
export const usageCounts = ({ db, clock }: Pick<Deps, 'db' | 'clock'>): UsageCounts => ({
  async hours(orgId, between) {
    const to = between.to === undefined ? clock.now() : Date.parse(between.to)
    const from =
      between.from === undefined ? to - DEFAULT_HOURS * HOUR_MS : Date.parse(between.from)
    if (from >= to) throw invalid('from', 'must be before to')
    if (to - from > MAX_HOURS * HOUR_MS)
      throw invalid('from', `must be at most ${MAX_HOURS} hours before to`)
    const hourOf = (time: number) => isoTime(time).slice(0, HOUR)
    const end = hourOf(to + HOUR_MS - 1)
    const rows = await readUsage(on<Tables>(db), orgId, hourOf(from), end)
    return {
      data: rows.map(({ meter, hour, quantity, from_seq, to_seq }) => ({
        meter: meter as Meter,
        hour: `${hour}:00:00.000Z`,
        quantity,
        from_seq,
        to_seq,
      })),
    }
  },
})

export const usageRoutes = (counts: UsageCounts): Route[] =>
  implement(usage, { getUsage: ({ query }, { orgId }) => counts.hours(orgId, query) })
