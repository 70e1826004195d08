import { conditionOf } from '../rules/condition.ts'
import type { Rule } from '../rules/rule.ts'
import type { PermissionRow } from '../tables/delegation.ts'

/** A compiled permission; its rule concerns the holder, or the denied agent. */
export interface CompiledPermission extends Rule {
  /** The holder; for a denial it may be a pattern. */
  readonly agentId: string
  readonly effect: 'allow' | 'deny'
  readonly parentId: string | null
  readonly grantedBy: { readonly type: PermissionRow['granted_by_type']; readonly id: string }
  readonly canDelegate: boolean
  readonly maxDepth: number
  readonly description: string | null
  readonly isRevoked: boolean
  /** The same rule for any agent, for evaluation as a link of a chain. */
  readonly link: Rule
}

export function toPermission(row: PermissionRow): CompiledPermission {
  const rule = {
    id: row.id,
    actions: listOf(row.actions),
    resources: listOf(row.resources),
    condition: row.condition === null ? null : conditionOf(row.condition),
    notBefore: row.not_before === null ? null : Date.parse(row.not_before),
    expiresAt: row.expires_at === null ? null : Date.parse(row.expires_at),
  }
  return {
    ...rule,
    agents: [row.agent_id],
    agentId: row.agent_id,
    effect: row.effect,
    parentId: row.parent_id,
    grantedBy: { type: row.granted_by_type, id: row.granted_by_id },
    canDelegate: row.can_delegate === 1,
    maxDepth: row.max_depth,
    description: row.description,
    isRevoked: row.revoked_at !== null,
    link: { ...rule, agents: ['*'] },
  }
}

/** A stored list of patterns. */
export const listOf = (text: string): string[] => JSON.parse(text) as string[]
