import { queryOptions, useQuery } from '@tanstack/react-query'
import { send } from './client.ts'
import { useCan } from './session.ts'

export type Bucket = 'minute' | 'hour' | 'day'
export type Dimension = 'decision' | 'reason' | 'agent' | 'action' | 'policy'

export interface Stat {
  readonly from: string
  readonly key: string
  readonly count: number
  readonly amount_usd: number
}

export interface Stats {
  readonly data: readonly Stat[]
  /** Null until the first entries are counted. */
  readonly up_to_seq: number | null
}

export interface StatsQuestion {
  readonly from: string
  readonly to: string
  readonly bucket: Bucket
  readonly by: Dimension
}

/** `key` names the question where its times move. */
export const statsQuery = (key: string, question: () => StatsQuestion, isOn: boolean) =>
  queryOptions({
    queryKey: ['stats', key],
    enabled: isOn,
    queryFn: ({ signal }) => send<Stats>('GET', '/v1/stats', { query: { ...question() }, signal }),
    refetchInterval: 15_000,
  })

const DAY_MS = 86_400_000

/** The start of the bucket that `days` ago lies in, and the end of the current one. */
export function period(days: number, bucketMs: number): { from: string; to: string } {
  const end = Math.ceil(Date.now() / bucketMs) * bucketMs
  return {
    from: new Date(end - days * DAY_MS).toISOString(),
    to: new Date(end).toISOString(),
  }
}

/** Decisions by policy in 7 days; null where the server keeps no statistics. */
export function usePolicyHits(): ReadonlyMap<string, number> | null {
  const can = useCan()
  const isOn = can('GET /v1/stats')
  const { data } = useQuery(
    statsQuery('policy-hits', () => ({ ...period(7, DAY_MS), bucket: 'day', by: 'policy' }), isOn),
  )
  if (!data) return null
  const hits = new Map<string, number>()
  for (const { key, count } of data.data) hits.set(key, (hits.get(key) ?? 0) + count)
  return hits
}
