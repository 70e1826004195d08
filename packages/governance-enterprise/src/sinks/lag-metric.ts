import { cached, on } from '@remit/core'
import type { Deps } from '@remit/core'
import { sql } from 'kysely'
import type { Tables } from '../tables/schema.ts'

/** The metric of entries that sinks have yet to send, the same from every server. */
export function lagMetric({ db, metrics }: Pick<Deps, 'db' | 'metrics'>): void {
  metrics.gauge(
    'remit_sink_lag_entries',
    'Entries that the sink of all organizations that is furthest behind has yet to examine',
    cached(async () => {
      const { lag } = await on<Tables>(db)
        .selectFrom('sink')
        .innerJoin('ledger_head', 'ledger_head.org_id', 'sink.org_id')
        .select(sql<number | string | null>`max(ledger_head.size - sink.next_seq)`.as('lag'))
        .where('sink.enabled', '=', 1)
        .executeTakeFirstOrThrow()
      return Math.max(0, Number(lag ?? 0))
    }),
  )
}
