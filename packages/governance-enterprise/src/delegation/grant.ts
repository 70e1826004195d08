import type { PermissionInput } from '@remit/contract'
import { fail, isoTime } from '@remit/core/base'
import type { Roster } from '../agents/agents.ts'
import type { PermissionRow } from '../tables/delegation.ts'
import { chainBreakOf, chainOf } from './authority.ts'
import type { PermissionChain } from './authority.ts'
import { depthLeft, widerThan } from './permission.ts'
import type { CompiledPermission, PermissionTerms } from './permission.ts'

// Each of them is evaluated for every request.
export const MAX_PATTERN_DENIES = 1_000

/** The grantor of a permission. */
export type Granter = CompiledPermission['grantedBy']

export const isPattern = (agentId: string): boolean => agentId.includes('*')

/** Returns whether a permission adds a denial for a pattern of agents. */
export const isNewPattern = (
  before: PermissionRow | undefined,
  { agent_id: id }: PermissionInput,
): boolean => isPattern(id) && !(before && isPattern(before.agent_id))

/** Throws `too_many_pattern_denies` if another one would be beyond the limit. */
export function checkPatternDenies(count: number): void {
  if (count >= MAX_PATTERN_DENIES)
    throw fail('too_many_pattern_denies', `The organization has ${count}`)
}

/** Throws if the stored permission of the same id cannot be replaced by this one. */
export function checkReplaceable(
  before: PermissionRow | undefined,
  { parent_id }: PermissionInput,
): void {
  if (!before) return
  if (before.revoked_at !== null)
    throw fail('permission_revoked', `It was revoked at ${before.revoked_at}; use another id`)
  if (before.parent_id === parent_id) return
  throw fail('permission_parent_fixed', `The parent_id of ${before.id} is ${before.parent_id}`, {
    errors: [{ path: 'parent_id', message: `must remain ${before.parent_id}` }],
  })
}

/** The chain of a parent; throws `permission_parent_unusable` if there is no such permission. */
export function parentChain(
  id: string,
  byId: ReadonlyMap<string, CompiledPermission>,
): PermissionChain {
  const parent = byId.get(id)
  if (!parent) throw unusable('parent_id', 'is not a permission of the organization')
  return chainOf(parent, byId)
}

/** Throws unless the parent is in force, and its holder may delegate the requested permission. */
export function checkDelegable(
  input: PermissionInput,
  parent: PermissionChain,
  now: number,
  roster: Roster,
): void {
  const dead = chainBreakOf(parent, now, roster)
  if (dead) throw unusable('parent_id', `is not in force: ${dead.id} is ${dead.reason}`)
  const last = parent.links.at(-1)
  if (!last || last.effect !== 'allow') throw unusable('parent_id', 'is a deny permission')
  if (!last.canDelegate) throw unusable('parent_id', 'cannot be delegated: can_delegate is false')
  if (input.granted_by && input.granted_by.id !== last.agentId)
    throw unusable('granted_by.id', `must be ${last.agentId}, the holder of ${last.id}`)
  const twice = parent.links.find(({ agentId }) => agentId === input.agent_id)
  if (twice)
    throw fail('agent_in_chain', `${input.agent_id} already holds ${twice.id} in this chain`)
  const faults = widerThan(parent.links, {
    actions: input.actions,
    resources: input.resources,
    notBefore: timeOf(input.not_before),
    expiresAt: timeOf(input.expires_at),
    maxDepth: input.max_depth ?? null,
  })
  const [first] = faults
  if (first) throw fail('permission_too_wide', `${first.path} ${first.message}`, { errors: faults })
}

const unusable = (path: string, message: string) =>
  fail('permission_parent_unusable', `${path} ${message}`, { errors: [{ path, message }] })

/** The terms of a permission as stored; `granter` grants a root without `granted_by`. */
export function grantedTerms(
  id: string,
  input: PermissionInput,
  parent: PermissionChain | null,
  granter: Granter,
): PermissionTerms {
  const { type, id: by } = input.granted_by ?? (parent ? holderOf(parent) : granter)
  return {
    id,
    agent_id: input.agent_id,
    effect: input.effect,
    actions: JSON.stringify(input.actions),
    resources: JSON.stringify(input.resources),
    condition: input.condition,
    parent_id: input.parent_id,
    granted_by_type: type,
    granted_by_id: by,
    can_delegate: input.can_delegate ? 1 : 0,
    max_depth: input.max_depth ?? (parent && input.can_delegate ? depthLeft(parent.links) : 0),
    not_before: isoOrNull(input.not_before),
    expires_at: isoOrNull(input.expires_at),
    description: input.description,
    revoked_at: null,
    revoked_by: null,
  }
}

const holderOf = ({ links }: PermissionChain): Granter => ({
  type: 'agent',
  id: links.at(-1)?.agentId ?? '',
})

const timeOf = (text: string | null): number | null => (text === null ? null : Date.parse(text))
const isoOrNull = (text: string | null): string | null => text && isoTime(Date.parse(text))
