import { MAX_DELEGATION_DEPTH } from '@remit/contract/values'
import { agentAdmission } from '../agents/agents.ts'
import type { Roster } from '../agents/agents.ts'
import type { CompiledPermission } from './permission.ts'

/** The reason why a permission is not in force. */
export type ChainBreakReason =
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
export interface ChainBreak {
  readonly reason: ChainBreakReason
  readonly id: string
}

/** A permission with all of its ancestors. */
export interface PermissionChain {
  /** From the root to the permission; from the break if the chain is broken. */
  readonly links: readonly [CompiledPermission, ...CompiledPermission[]]
  /** A permanent break. */
  readonly broken: ChainBreak | null
}

/**
 * Builds the chain of a permission up to its root. Cyclic or overlong chains grant nothing; the
 * walk ends after `MAX_DELEGATION_DEPTH` links.
 */
export function chainOf(
  leaf: CompiledPermission,
  byId: ReadonlyMap<string, CompiledPermission>,
): PermissionChain {
  const links: [CompiledPermission, ...CompiledPermission[]] = [leaf]
  const agents = new Set([leaf.agentId])
  let broken: ChainBreak | null = leaf.isRevoked ? { reason: 'revoked', id: leaf.id } : null
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
  parent: CompiledPermission,
  child: CompiledPermission,
  below: number,
  agents: ReadonlySet<string>,
): ChainBreakReason | null {
  if (agents.has(parent.agentId)) return 'cycle'
  if (below > MAX_DELEGATION_DEPTH) return 'too_deep'
  if (parent.isRevoked) return 'revoked'
  if (parent.effect !== 'allow' || !parent.canDelegate) return 'not_delegable'
  if (below > parent.maxDepth) return 'too_deep'
  const { type, id } = child.grantedBy
  return type === 'agent' && id === parent.agentId ? null : 'not_held'
}

/** The reason why a chain is not in force at a time; null if it is. */
export function chainBreakOf(
  { links, broken }: PermissionChain,
  now: number,
  roster: Roster,
): ChainBreak | null {
  if (broken) return broken
  for (const { id, agentId, effect, notBefore, expiresAt } of links) {
    if (expiresAt !== null && now >= expiresAt) return { reason: 'expired', id }
    if (notBefore !== null && now < notBefore) return { reason: 'not_yet_valid', id }
    if (effect !== 'allow') continue
    const { state } = agentAdmission(agentId, roster)
    if (state !== 'active') return { reason: state, id }
  }
  return null
}
