import type { Contribution, Deps } from '@remit/core/module'
import { backlogMetric, Deliveries } from './deliveries.ts'
import { Outbox } from './outbox.ts'
import { webhookRoutes } from './routes.ts'

export function webhooksOf(
  deps: Deps,
): Required<Pick<Contribution, 'routes' | 'observers' | 'start' | 'close'>> {
  const deliveries = new Deliveries(deps)
  backlogMetric(deps)
  return {
    routes: webhookRoutes(deps),
    observers: [new Outbox()],
    start: () => deliveries.start(),
    close: () => deliveries.close(),
  }
}
