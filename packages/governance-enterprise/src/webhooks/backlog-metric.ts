import { eachPart, inPart, on } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { cached } from '@remit/core/telemetry'
import type { Tables } from '../tables/schema.ts'

/** The metric of messages that wait for delivery, the same from every server. */
export function backlogMetric({ db, metrics }: Pick<Deps, 'db' | 'metrics'>): void {
  metrics.gauge(
    'remit_webhook_backlog',
    'Webhook messages of all organizations that are not delivered yet',
    cached(async () => {
      const counts = await eachPart(
        db,
        (part) =>
          on<Tables>(db)
            .selectFrom('webhook_delivery')
            .select((of) => of.fn.countAll().as('count'))
            .where(inPart(part))
            .where('state', '=', 'waiting')
            .executeTakeFirstOrThrow(),
        // Without the organizations that are unavailable.
        () => undefined,
      )
      return counts.reduce((sum, { count }) => sum + Number(count), 0)
    }),
  )
}
