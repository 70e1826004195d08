import type { StatKey, Stats } from '@remit/contract'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { remit } from './client.ts'
import { useCan } from './session.ts'

export interface StatsQuestion {
  readonly from: string
  readonly to: string
  readonly bucket: 'minute' | 'hour' | 'day'
  readonly by: StatKey
  readonly key?: string
}

/** Statistics, asked again as the ledger grows. `key` names the question where its times move. */
export const statsQuery = (key: string, question: () => StatsQuestion, isOn: boolean) =>
  queryOptions({
    queryKey: ['stats', key],
    enabled: isOn,
    queryFn: ({ signal }) => remit.getStats({ query: question(), signal }),
    refetchInterval: 15_000,
  })

const DAY_MS = 86_400_000
export const HOUR_MS = 3_600_000

/** The start of the bucket that `days` ago lies in, and the end of the current one. */
export function period(days: number, bucketMs: number): { from: string; to: string } {
  const end = Math.ceil(Date.now() / bucketMs) * bucketMs
  return {
    from: new Date(end - days * DAY_MS).toISOString(),
    to: new Date(end).toISOString(),
  }
}

/** The statistics of 7 days by one fact, an hour each. */
const weekQuery = (by: StatKey, isOn: boolean) =>
  statsQuery(`7 days by ${by}`, () => ({ ...period(7, HOUR_MS), bucket: 'hour', by }), isOn)

/** Decisions of 7 days by one fact. */
export const weekStats = (by: StatKey, isOn: boolean) => ({
  ...weekQuery(by, isOn),
  select: ({ data }: Stats): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>()
    for (const { key, count } of data) counts.set(key, (counts.get(key) ?? 0) + count)
    return counts
  },
})

export interface Hits {
  readonly count: number
  /** The start of the hour of the last one. */
  readonly last: string
}

/** Decisions by policy in 7 days; null where the server keeps no statistics. */
export function usePolicyHits(): ReadonlyMap<string, Hits> | null {
  const can = useCan()
  const isOn = can('GET /v1/stats')
  const { data } = useQuery(weekQuery('policy', isOn))
  if (!data) return null
  const hits = new Map<string, Hits>()
  for (const { key, count, from } of data.data) {
    const before = hits.get(key)
    hits.set(key, {
      count: (before?.count ?? 0) + count,
      last: before && before.last > from ? before.last : from,
    })
  }
  return hits
}
