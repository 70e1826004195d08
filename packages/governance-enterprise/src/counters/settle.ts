import { toMicroUsd } from '@remit/contract/values'
import type { Caller } from '@remit/core/caller'
import type { SpendHoldRow } from '../tables/schema.ts'
import type { Move } from '@remit/core/decision'
import { agentMoves, holdMoves } from './charges.ts'

type Hold = Pick<SpendHoldRow, 'held_micro' | 'state' | 'expires_at'>

/** The held amount at a time, in micro-USD; 0 after the end of the hold. */
export const heldAt = ({ held_micro: held, state, expires_at: end }: Hold, at: string): number =>
  state === 'held' && (end === null || end > at) ? held : 0

/** Returns whether a caller may not settle below a hold by itself: a credential without `ledger:settle`. */
export const needsScope = (caller: Caller | null): boolean =>
  caller?.principal.type === 'credential' && !caller.principal.scopes.includes('ledger:settle')

/**
 * Returns whether a settlement below the hold requires permission: without the scope
 * `ledger:settle` or the setting of the limit, an agent could raise its own cap.
 */
export const freesOwnCap = (
  caller: Caller | null,
  hold: Hold,
  costUsd: number,
  recordedAt: string,
): boolean => needsScope(caller) && toMicroUsd(costUsd) < heldAt(hold, recordedAt)

/**
 * Settles a hold with a cost at `recordedAt`: the held amount becomes spend of the day of the hold;
 * the excess is spend of the current day, so that a late report cannot evade today's cap. `costUsd`
 * 0 releases the hold. The whole cost of an expired hold is spend of the current day, whether or
 * not its end was recorded.
 */
export function settleHold(
  hold: Hold & Parameters<typeof holdMoves>[0],
  costUsd: number,
  recordedAt: string,
): Move[] {
  const cost = toMicroUsd(costUsd)
  const held = hold.state === 'held' ? hold.held_micro : 0
  const captured = Math.min(cost, heldAt(hold, recordedAt))
  return [
    ...(held > 0 ? holdMoves(hold, captured, -held) : []),
    ...(cost > captured ? agentMoves(hold.agent_id, recordedAt, cost - captured, 0) : []),
  ]
}
