import type { Permission as Wire } from '@remit/contract'
import type { Roster } from '../agents/state.ts'
import { chainBreakOf } from './chain.ts'
import type { PermissionChain } from './chain.ts'
import { listOf } from './permission.ts'
import type { PermissionRow } from '../tables/delegation.ts'

/** A permission in API form, with its chain at a time. */
export function wirePermission(
  row: PermissionRow,
  chain: PermissionChain,
  now: number,
  roster: Roster,
): Wire {
  const dead = chainBreakOf(chain, now, roster)
  return {
    id: row.id,
    agent_id: row.agent_id,
    effect: row.effect,
    actions: listOf(row.actions),
    resources: listOf(row.resources),
    condition: row.condition,
    parent_id: row.parent_id,
    granted_by: { type: row.granted_by_type, id: row.granted_by_id },
    can_delegate: row.can_delegate === 1,
    max_depth: row.max_depth,
    not_before: row.not_before,
    expires_at: row.expires_at,
    description: row.description,
    created_at: row.created_at,
    created_by: row.created_by,
    updated_at: row.updated_at,
    revoked_at: row.revoked_at,
    revoked_by: row.revoked_by,
    depth: chain.links.length - 1,
    chain: chain.links.map(({ id }) => id),
    effective: dead === null ? true : { dead: dead.reason, link: dead.id },
  }
}
