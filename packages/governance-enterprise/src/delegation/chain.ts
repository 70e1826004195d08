import { MAX_DELEGATION_DEPTH } from '@remit/contract'
import { agentState } from '../agents/state.ts'
import type { Roster } from '../agents/state.ts'
import type { Permission } from './permission.ts'

/** The reason why a permission is not in force. */
export type DeadReason =
  | 'revoked'
  | 'expired'
  | 'not_yet_valid'
  | 'suspended'
  | 'removed'
  | 'not_registered'
  | 'parent_missing'
  | 'not_held'
  | 'not_delegable'
  | 'too_deep'
  | 'cycle'

/** The reason, and the link that breaks the chain. */
export interface Dead {
  readonly reason: DeadReason
  readonly id: string
}

/** A permission with all of its ancestors. */
export interface Chain {
  /** From the root to the permission; from the break if the chain is broken. */
  readonly links: readonly [Permission, ...Permission[]]
  /** A permanent break. */
  readonly broken: Dead | null
}

/**
 * Builds the chain of a permission up to its root. Cyclic or overlong chains grant nothing; the
 * walk ends after `MAX_DELEGATION_DEPTH` links.
 */
export function chainOf(leaf: Permission, byId: ReadonlyMap<string, Permission>): Chain {
  const links: [Permission, ...Permission[]] = [leaf]
  const agents = new Set([leaf.agentId])
  let broken: Dead | null = leaf.isRevoked ? { reason: 'revoked', id: leaf.id } : null
  for (let child = leaf; child.parentId !== null; child = links[0]) {
    const parent = byId.get(child.parentId)
    const reason = parent ? faultOf(parent, child, links.length, agents) : 'parent_missing'
    broken ??= reason && { reason, id: child.parentId }
    if (!parent || reason === 'cycle' || reason === 'too_deep') break
    agents.add(parent.agentId)
    links.unshift(parent)
  }
  return { links, broken }
}

/** The reason why `parent` does not support `child`, which has `below - 1` links after it. */
function faultOf(
  parent: Permission,
  child: Permission,
  below: number,
  agents: ReadonlySet<string>,
): DeadReason | null {
  if (agents.has(parent.agentId)) return 'cycle'
  if (below > MAX_DELEGATION_DEPTH) return 'too_deep'
  if (parent.isRevoked) return 'revoked'
  if (parent.effect !== 'allow' || !parent.canDelegate) return 'not_delegable'
  if (below > parent.maxDepth) return 'too_deep'
  const { type, id } = child.grantedBy
  return type === 'agent' && id === parent.agentId ? null : 'not_held'
}

/** The reason why a chain is not in force at a time; null if it is. */
export function whyDead({ links, broken }: Chain, now: number, roster: Roster): Dead | null {
  if (broken) return broken
  for (const { id, agentId, effect, notBefore, expiresAt } of links) {
    if (expiresAt !== null && now >= expiresAt) return { reason: 'expired', id }
    if (notBefore !== null && now < notBefore) return { reason: 'not_yet_valid', id }
    if (effect !== 'allow') continue
    const { state } = agentState(agentId, roster)
    if (state !== 'active') return { reason: state, id }
  }
  return null
}
