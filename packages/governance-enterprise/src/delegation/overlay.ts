import type { PermissionInput, PolicyOverlay } from '@remit/contract'
import { invalid } from '@remit/core/base'
import type { AnyDatabase } from '@remit/core/db'
import type { Overlay } from '@remit/core/decision'
import type { AgentRules } from '../agents/agents.ts'
import { admitCondition } from '../rules/admit-condition.ts'
import { at } from '../rules/overlaid.ts'
import type { PermissionRow } from '../tables/delegation.ts'
import { rulesOf } from './authority.ts'
import type { AgentAuthority, CompiledPermissions, PermissionChain } from './authority.ts'
import {
  checkDelegable,
  checkPatternDenies,
  checkReplaceable,
  grantedTerms,
  isNewPattern,
  parentChain,
} from './grant.ts'
import { toPermission } from './permission.ts'
import type { CompiledPermission } from './permission.ts'
import { countPatternDenies, findPermissions, withAncestors } from './store.ts'

type TriedPermission = PermissionInput & { readonly id: string }
type Change = NonNullable<PolicyOverlay['permissions']>

/** Decides nothing: only the grantor of a derived permission does. */
const NOBODY = { type: 'key', id: '' } as const

const tried = (input: TriedPermission, parent: PermissionChain | null): CompiledPermission =>
  toPermission(grantedTerms(input.id, input, parent, NOBODY))

/** The snapshot of the slot `agent_deny` with the permissions, modes and settings of an overlay. */
export function overlaidAuthority(
  authority: AgentAuthority,
  { permissions, agent_modes: modes, settings, agents_are_active: isActive }: Overlay,
): AgentAuthority {
  return {
    ...authority,
    ...(permissions || modes ? overlaidPermissions(authority, permissions, modes) : {}),
    ...(settings?.unknown_agents && { unknownAgents: settings.unknown_agents }),
    ...(isActive && allActive(authority)),
  }
}

const allActive = ({ registry }: AgentAuthority): Partial<AgentRules> => ({
  registry: new Map([...registry].map(([id, one]) => [id, { ...one, status: 'active' }])),
  suspended: new Map(),
  unknownAgents: 'allow',
})

function overlaidPermissions(
  { byId, granted: before }: CompiledPermissions,
  { set = [], remove = [] }: Partial<Change> = {},
  modes: PolicyOverlay['agent_modes'],
): CompiledPermissions {
  const all = new Map(byId)
  for (const id of remove) all.delete(id)
  const granted = new Set(before)
  for (const input of parentsFirst(set)) {
    const { id, parent_id: parent } = input
    // A grant whose parent is missing has no effect.
    const has = parent !== null && all.has(parent)
    all.set(id, tried(input, has ? parentChain(parent, all) : null))
    if (input.effect === 'allow') granted.add(input.agent_id)
  }
  for (const { agent_id: id, mode } of modes?.set ?? []) {
    if (mode === 'granted') granted.add(id)
    else granted.delete(id)
  }
  return rulesOf([...all.values()], granted)
}

/** Parents before what is derived from them; those of a cycle in any order. */
function parentsFirst(set: readonly TriedPermission[]): readonly TriedPermission[] {
  const left = new Map(set.map((input) => [input.id, input]))
  const sorted: TriedPermission[] = []
  const take = (input: TriedPermission | undefined): void => {
    if (!input || !left.delete(input.id)) return
    if (input.parent_id !== null) take(left.get(input.parent_id))
    sorted.push(input)
  }
  for (const input of set) take(input)
  return sorted
}

/**
 * Refuses permissions of an overlay as the endpoint would refuse them, after the removals and one after the
 * other; returns those that it adds. `rest` is called between permissions to yield the thread.
 */
export async function admitPermissions(
  db: AnyDatabase,
  orgId: string,
  { set, remove }: Change,
  roster: AgentRules,
  now: number,
  rest: () => Promise<void>,
): Promise<readonly CompiledPermission[]> {
  const named = set.flatMap(({ id, parent_id }) => (parent_id === null ? [id] : [id, parent_id]))
  const rows = await withAncestors(
    db,
    orgId,
    await findPermissions(db, orgId, [...new Set([...named, ...remove])]),
  )
  const gone = new Set(remove)
  for (const [i, id] of remove.entries()) {
    if (rows.get(id)?.revoked_at !== null)
      throw invalid(`overlay.permissions.remove.${i}`, 'is not a permission of the organization')
  }
  const known = new Map([...rows].map(([id, row]) => [id, removedIn(gone, row, rows, now)]))
  const compiled = new Map([...known].map(([id, row]) => [id, toPermission(row)]))
  let patterns = await countPatternDenies(db, orgId)
  for (const id of remove) if (rows.get(id)?.agent_id.includes('*')) patterns--
  const places = new Map(set.map((input, i) => [input, i]))
  for (const input of parentsFirst(set)) {
    const path = `overlay.permissions.set.${places.get(input)}`
    admitCondition(input.condition, `${path}.condition`)
    at(path, () => {
      const before = known.get(input.id)
      checkReplaceable(before, input)
      if (isNewPattern(before, input)) checkPatternDenies(patterns++)
      const parent = input.parent_id === null ? null : parentChain(input.parent_id, compiled)
      if (parent) checkDelegable(input, parent, now, roster)
      compiled.set(input.id, tried(input, parent))
    })
    await rest()
  }
  return set.flatMap(({ id }) => compiled.get(id) ?? [])
}

/** A removed permission is revoked, and so are those derived from it. */
function removedIn(
  gone: ReadonlySet<string>,
  row: PermissionRow,
  rows: ReadonlyMap<string, PermissionRow>,
  now: number,
): PermissionRow {
  for (let one: PermissionRow | undefined = row; one; one = rows.get(one.parent_id ?? ''))
    if (gone.has(one.id)) return { ...row, revoked_at: new Date(now).toISOString() }
  return row
}
