import type { PermissionInput } from '@remit/contract'
import { fail, isoTime } from '@remit/core/base'
import { actorOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import type { WriteContext } from '@remit/core/ledger/lanes'
import type { ReadRoster } from '../agents/roster.ts'
import { depthLeft, widerThan } from './attenuation.ts'
import { chainOf, chainBreakOf } from './chain.ts'
import type { PermissionChain } from './chain.ts'
import { toPermission } from './permission.ts'
import type { PermissionRow } from '../tables/delegation.ts'
import { countPatternDenies, findPermission, putPermission, withAncestors } from './store.ts'

// Each of them is evaluated for every request.
const MAX_PATTERN_DENIES = 1_000

export interface GrantedPermission {
  readonly row: PermissionRow
  readonly isNew: boolean
  readonly chain: PermissionChain
}

/** Stores a permission; throws if it is not allowed. */
export async function grantPermission(
  scope: WriteContext,
  readRoster: ReadRoster,
  caller: Caller | null,
  id: string,
  input: PermissionInput,
): Promise<GrantedPermission> {
  const { tx, orgId, recordedAt } = scope
  const before = await findPermission(tx, orgId, id)
  if (before) checkReplaceable(before, input)
  if (isPattern(input.agent_id) && !(before && isPattern(before.agent_id))) {
    const count = await countPatternDenies(tx, orgId)
    if (count >= MAX_PATTERN_DENIES)
      throw fail('too_many_pattern_denies', `The organization has ${count}`)
  }
  const parent =
    input.parent_id === null ? null : await readParent(scope, readRoster, input.parent_id)
  if (parent) checkCut(input, parent)
  const granter = input.granted_by ?? (parent ? holderOf(parent) : granterOf(caller))
  const row: PermissionRow = {
    org_id: orgId,
    id,
    agent_id: input.agent_id,
    effect: input.effect,
    actions: JSON.stringify(input.actions),
    resources: JSON.stringify(input.resources),
    condition: input.condition,
    parent_id: input.parent_id,
    granted_by_type: granter.type,
    granted_by_id: granter.id,
    can_delegate: input.can_delegate ? 1 : 0,
    max_depth: input.max_depth ?? (parent && input.can_delegate ? depthLeft(parent.links) : 0),
    not_before: isoOrNull(input.not_before),
    expires_at: isoOrNull(input.expires_at),
    description: input.description,
    created_at: before?.created_at ?? recordedAt,
    created_by: before?.created_by ?? actorOf(caller).id,
    updated_at: recordedAt,
    revoked_at: null,
    revoked_by: null,
    revision: scope.configVersion,
  }
  await putPermission(tx, row)
  const above = new Map(parent?.links.map((link) => [link.id, link]))
  return { row, isNew: !before, chain: chainOf(toPermission(row), above) }
}

const isPattern = (agentId: string): boolean => agentId.includes('*')
const timeOf = (text: string | null): number | null => (text === null ? null : Date.parse(text))
const isoOrNull = (text: string | null): string | null => text && isoTime(Date.parse(text))

/** A root is granted by the person of the key, or by the key itself. */
const granterOf = (caller: Caller | null): { type: 'user' | 'key'; id: string } =>
  caller?.principal.person
    ? { type: 'user', id: caller.principal.person }
    : { type: 'key', id: actorOf(caller).id }

const holderOf = ({ links }: PermissionChain): { type: 'agent'; id: string } => ({
  type: 'agent',
  id: links.at(-1)?.agentId ?? '',
})

function checkReplaceable(before: PermissionRow, { parent_id }: PermissionInput): void {
  if (before.revoked_at !== null)
    throw fail('permission_revoked', `It was revoked at ${before.revoked_at}; use another id`)
  if (before.parent_id === parent_id) return
  throw fail('permission_parent_fixed', `The parent_id of ${before.id} is ${before.parent_id}`, {
    errors: [{ path: 'parent_id', message: `must remain ${before.parent_id}` }],
  })
}

/** The parent chain, which must be in force. */
async function readParent(
  { tx, orgId, now }: WriteContext,
  readRoster: ReadRoster,
  id: string,
): Promise<PermissionChain> {
  const row = await findPermission(tx, orgId, id)
  if (!row) throw unusable('parent_id', 'is not a permission of the organization')
  const rows = await withAncestors(tx, orgId, [row])
  const byId = new Map([...rows.values()].map((one) => [one.id, toPermission(one)]))
  const chain = chainOf(toPermission(row), byId)
  const dead = chainBreakOf(chain, now, await readRoster(tx, orgId))
  if (dead) throw unusable('parent_id', `is not in force: ${dead.id} is ${dead.reason}`)
  return chain
}

/** Checks that the holder of the parent may delegate the requested permission. */
function checkCut(input: PermissionInput, parent: PermissionChain): void {
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
