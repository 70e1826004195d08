import { stats } from '@remit/contract'
import { invalid, isoTime } from '@remit/core/base'
import { on } from '@remit/core/db'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import type { Tables } from '../tables/schema.ts'
import { readStats } from './read.ts'

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
