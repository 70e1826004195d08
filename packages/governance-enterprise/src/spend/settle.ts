import { toMicroUsd } from '@remit/contract'
import type { SpendHoldRow } from '../schema.ts'
import type { Movement } from './totals-store.ts'

/**
 * How a cost settles a hold: what was held becomes spend of the day it was held on; what goes beyond
 * is spend of the day it is reported on, so a late report cannot slip past today's cap.
 * `costUsd` 0 releases the hold. A hold that has ended counts nothing any more.
 */
export function settleHold(hold: Pick<SpendHoldRow, 'agent_id' | 'day' | 'held_micro' | 'state'>, costUsd: number, today: string): Movement[] {
  const cost = toMicroUsd(costUsd)
  const held = hold.state === 'held' ? hold.held_micro : 0
  const captured = Math.min(cost, held)
  const movements: Movement[] = []
  if (held > 0) movements.push({ agentId: hold.agent_id, day: hold.day, spent: captured, held: -held })
  if (cost > captured) movements.push({ agentId: hold.agent_id, day: today, spent: cost - captured, held: 0 })
  return movements
}
