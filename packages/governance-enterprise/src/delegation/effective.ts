import type { EffectivePermissions } from '@remit/contract'
import { isoTime, matchesPattern } from '@remit/core'
import type { Roster } from '../agents/state.ts'
import { chainBreakOf } from './chain.ts'
import type { PermissionChain } from './chain.ts'
import { listsOverlap, narrowed } from './narrow.ts'
import type { CompiledPermission } from './permission.ts'

type Grant = EffectivePermissions['grants'][number]
type Deny = EffectivePermissions['denies'][number]

/** The data about an agent and its delegators. */
export interface EffectiveInputs {
  readonly agentId: string
  /** The chains of its permissions. */
  readonly chains: readonly PermissionChain[]
  /** Denials for any agent. */
  readonly denies: readonly CompiledPermission[]
  readonly roster: Roster
}

/**
 * The effective permissions of an agent at a time, with reasons and ends. Actions listed as allowed
 * pass step 1 of a decision.
 */
export function effectiveAt(
  { agentId, chains, denies, roster }: EffectiveInputs,
  now: number,
): Pick<EffectivePermissions, 'grants' | 'denies' | 'changes_at'> {
  const lasting = denies.filter(({ expiresAt }) => expiresAt === null || now < expiresAt)
  const own = lasting.filter((deny) => isAbout(deny, agentId))
  const flowing = lasting.filter((deny) => !own.includes(deny))
  const sound = chains.filter(({ broken }) => broken === null)
  const grants = sound
    .filter((chain) => chainBreakOf(chain, now, roster) === null)
    .flatMap((chain) => grantOf(chain, flowing) ?? [])
  const named = new Set(grants.flatMap((grant) => grant.denies.map(({ id }) => id)))
  const windows = [
    ...sound.flatMap(({ links }) => links),
    ...own,
    ...flowing.filter(({ id }) => named.has(id)),
  ]
  return { grants, denies: own.map(wireDeny), changes_at: nextChange(windows, now) }
}

const isAbout = (deny: CompiledPermission, agentId: string): boolean =>
  matchesPattern(deny.agentId, agentId)

/** Null for a chain whose links have no common actions or resources. */
function grantOf(chain: PermissionChain, denies: readonly CompiledPermission[]): Grant | null {
  const { links } = chain
  const actions = narrowed(links.map((link) => link.actions))
  const resources = narrowed(links.map((link) => link.resources))
  const partial = actions.isPartial || resources.isPartial
  const isEmpty = actions.patterns.length === 0 || resources.patterns.length === 0
  if (isEmpty && !partial) return null
  const ends = links.flatMap(({ expiresAt }) => expiresAt ?? [])
  const flowing = denies.filter(
    (deny) =>
      links.slice(0, -1).some(({ agentId }) => isAbout(deny, agentId)) &&
      links.every((link) => listsOverlap(link.actions, deny.actions)) &&
      links.every((link) => listsOverlap(link.resources, deny.resources)),
  )
  return {
    id: links.at(-1)?.id ?? '',
    actions: [...actions.patterns],
    resources: [...resources.patterns],
    conditions: links.flatMap(({ condition }) => condition?.text ?? []),
    expires_at: ends.length === 0 ? null : isoTime(Math.min(...ends)),
    partial,
    chain: links.map((link) => ({
      ...wireRule(link),
      granted_by: link.grantedBy,
    })),
    denies: flowing.map(wireDeny),
  }
}

const wireDeny = (deny: CompiledPermission): Deny => ({
  ...wireRule(deny),
  description: deny.description,
})

const wireRule = (permission: CompiledPermission) => ({
  id: permission.id,
  agent_id: permission.agentId,
  actions: [...permission.actions],
  resources: [...permission.resources],
  condition: permission.condition?.text ?? null,
  not_before: isoOrNull(permission.notBefore),
  expires_at: isoOrNull(permission.expiresAt),
})

const isoOrNull = (time: number | null): string | null => (time === null ? null : isoTime(time))

function nextChange(windows: readonly CompiledPermission[], now: number): string | null {
  let next: number | null = null
  for (const time of windows.flatMap(({ notBefore, expiresAt }) => [notBefore, expiresAt])) {
    if (time !== null && time > now && (next === null || time < next)) next = time
  }
  return isoOrNull(next)
}
