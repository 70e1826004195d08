import { eachPart, inPart, on } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { cached } from '@remit/core/telemetry'
import { sql } from 'kysely'
import type { Tables } from '../tables/schema.ts'

/** The metric of entries that sinks have yet to send, the same from every server. */
export function lagMetric({ db, metrics }: Pick<Deps, 'db' | 'metrics'>): void {
  metrics.gauge(
    'remit_sink_lag_entries',
    'Entries that the sink of all organizations that is furthest behind has yet to examine',
    cached(async () => {
      const lags = await eachPart(
        db,
        (part) =>
          on<Tables>(db)
            .selectFrom('sink')
            .innerJoin('ledger_head', 'ledger_head.org_id', 'sink.org_id')
            .select(sql<number | string | null>`max(ledger_head.size - sink.next_seq)`.as('lag'))
            .where(inPart(part, 'sink.org_id'))
            .where('sink.enabled', '=', 1)
            .executeTakeFirstOrThrow(),
        // Without the organizations that are unavailable.
        () => undefined,
      )
      return Math.max(0, ...lags.map(({ lag }) => Number(lag ?? 0)))
    }),
  )
}
