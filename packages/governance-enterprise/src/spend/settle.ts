import { toMicroUsd } from '@remit/contract'
import type { SpendHoldRow } from '../schema.ts'
import type { Movement } from './totals-store.ts'

/**
 * How a cost settles a hold at `recordedAt`: what was held becomes spend of the day it was held on;
 * what goes beyond is spend of the day it is reported on, so a late report cannot slip past today's
 * cap. `costUsd` 0 releases the hold. A hold whose time has passed kept nothing free any more, so all
 * of its cost is spend of today, whether or not its end was noticed before.
 */
export function settleHold(
  hold: Pick<SpendHoldRow, 'agent_id' | 'day' | 'held_micro' | 'state' | 'expires_at'>,
  costUsd: number,
  recordedAt: string,
): Movement[] {
  const cost = toMicroUsd(costUsd)
  const held = hold.state === 'held' ? hold.held_micro : 0
  const isOver = hold.expires_at !== null && hold.expires_at <= recordedAt
  const captured = isOver ? 0 : Math.min(cost, held)
  const movements: Movement[] = []
  if (held > 0)
    movements.push({ agentId: hold.agent_id, day: hold.day, spent: captured, held: -held })
  if (cost > captured)
    movements.push({
      agentId: hold.agent_id,
      day: recordedAt.slice(0, 10),
      spent: cost - captured,
      held: 0,
    })
  return movements
}
