import { stats } from '@remit/contract'
import type { StatKey, Stats } from '@remit/contract'
import { invalid, isoTime } from '@remit/core/base'
import { on } from '@remit/core/db'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { fromMicroUsd } from '@remit/contract/values'
import { sql } from 'kysely'
import type { Database } from '@remit/core/db/open'
import type { Tables } from '../tables/schema.ts'
import { OTHERS } from './count.ts'

const BUCKET_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const
const DEFAULT_BUCKETS = 60
const MAX_BUCKETS = 1_000

export const statRoutes = ({ db, clock }: Deps): Route[] =>
  implement(stats, {
    getStats: ({ query: { bucket, by, key, ...period } }, { orgId }) => {
      const to = period.to === undefined ? clock.now() : Date.parse(period.to)
      const length = BUCKET_MS[bucket]
      const from =
        period.from === undefined ? to - DEFAULT_BUCKETS * length : Date.parse(period.from)
      if (from >= to) throw invalid('from', 'must be before to')
      if (to - from > MAX_BUCKETS * length)
        throw invalid('from', `must be at most ${MAX_BUCKETS} buckets before to`)
      const query = { by, bucket, key, from: isoTime(from), to: isoTime(to) }
      return readStats(on<Tables>(db), orgId, query)
    },
  })

interface StatQuery {
  readonly by: StatKey
  readonly bucket: 'minute' | 'hour' | 'day'
  /** RFC 3339 with milliseconds; half-open. */
  readonly from: string
  readonly to: string
  /** This value alone. */
  readonly key?: string | undefined
}

/** Letters of a time that name its bucket. */
const LENGTHS = { minute: 16, hour: 13, day: 10 } as const
const SHOWN_KEYS = 50

/** Reads counts; the less frequent values of a fact are counted together. */
async function readStats(
  db: Database<Tables>,
  orgId: string,
  { by, bucket, from, to, key }: StatQuery,
): Promise<Stats> {
  const size = bucket === 'minute' ? 'minute' : 'hour'
  // First: the counts are never behind the progress that is told.
  const progress = await db
    .selectFrom('stat_progress')
    .select('next_seq')
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  // One statement, so that counting in between changes nothing.
  const data = await db
    .with('counted', (of) =>
      of
        .selectFrom('stat_bucket')
        .selectAll()
        .where('org_id', '=', orgId)
        .where('size', '=', size)
        .where('dimension', '=', by)
        .where('bucket', '>=', from.slice(0, LENGTHS[bucket]))
        .where('bucket', '<', endOf(to, LENGTHS[bucket]))
        .$if(key !== undefined, (rows) => rows.where('key', '=', key ?? '')),
    )
    .with('frequent', (of) =>
      of
        .selectFrom('counted')
        .select('key')
        .groupBy('key')
        .orderBy((row) => row.fn.sum('count'), 'desc')
        .orderBy('key')
        .limit(SHOWN_KEYS),
    )
    .selectFrom('counted')
    .leftJoin('frequent', 'frequent.key', 'counted.key')
    .select([
      sql<string>`substr(bucket, 1, ${sql.lit(LENGTHS[bucket])})`.as('at'),
      sql<string>`coalesce(frequent.key, ${sql.lit(OTHERS)})`.as('shown'),
      (of) => of.fn.sum<number | string>('count').as('count'),
      (of) => of.fn.sum<number | string>('micro').as('micro'),
    ])
    .groupBy(['at', 'shown'])
    .orderBy('at')
    .orderBy('shown')
    .execute()
  return {
    data: data.map(({ at, shown, count, micro }) => ({
      from: startOf(at),
      key: shown,
      count: Number(count),
      amount_usd: fromMicroUsd(Number(micro)),
    })),
    up_to_seq: progress === undefined ? null : progress.next_seq - 1,
  }
}

/** The first text after the buckets that begin before a time. */
function endOf(time: string, length: number): string {
  const bucket = time.slice(0, length)
  return startOf(bucket) === time ? bucket : `${bucket}~`
}

/** The start of a bucket as a time. */
const startOf = (bucket: string): string =>
  `${bucket}${'0000-00-00T00:00:00.000Z'.slice(bucket.length)}`
