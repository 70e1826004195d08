import { toMicroUsd } from '@remit/contract'
import type { Caller } from '@remit/core'
import type { SpendHoldRow } from '../tables/schema.ts'
import type { Movement } from './totals-store.ts'

type Hold = Pick<SpendHoldRow, 'held_micro' | 'state' | 'expires_at'>

/** What a hold keeps of its caps at a time, in micro-USD. */
const heldAt = ({ held_micro: held, state, expires_at: end }: Hold, at: string): number =>
  state === 'held' && (end === null || end > at) ? held : 0

/**
 * Whether a settlement frees room under the caps of the agent that asks for it: it needs the scope
 * `ledger:settle`, or the word of the limit. An agent could otherwise lift its own cap.
 */
export const freesOwnCap = (
  caller: Caller | null,
  hold: Hold,
  costUsd: number,
  recordedAt: string,
): boolean =>
  caller?.principal.type === 'credential' &&
  !caller.principal.scopes.includes('ledger:settle') &&
  toMicroUsd(costUsd) < heldAt(hold, recordedAt)

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
  const captured = Math.min(cost, heldAt(hold, recordedAt))
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
