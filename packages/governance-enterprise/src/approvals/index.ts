import type { Contribution, Deps } from '@remit/core/module'
import { approvalEraser } from './erase.ts'
import { ConnectionLimits } from '../streams/event-stream.ts'
import { pendingMetrics, createSweeper } from './sweeper.ts'
import { approvalRoutes } from './routes.ts'
import { approvalStage, approvalObserver } from './stage.ts'
import { DecisionWaiters } from './decision-waiters.ts'

/** The contribution of approvals to the module: rules, requests, the slot and waiting. */
export function approvalsOf(deps: Deps): Required<
  Pick<Contribution, 'routes' | 'observers' | 'erasers' | 'start' | 'close'>
> & {
  stage: ReturnType<typeof approvalStage>
  waits: DecisionWaiters
} {
  const waits = new DecisionWaiters(deps)
  const sweeper = createSweeper(deps)
  pendingMetrics(deps)
  return {
    waits,
    routes: approvalRoutes(deps, waits, new ConnectionLimits()),
    stage: approvalStage(deps),
    observers: [approvalObserver],
    erasers: [approvalEraser],
    start() {
      waits.start()
      sweeper.start()
    },
    async close() {
      await waits.close()
      await sweeper.close()
    },
  }
}
