import type { EffectivePermissions } from '@remit/contract'
import { matchesPattern } from '@remit/contract/patterns'
import { fail, isoTime } from '@remit/core/base'
import type { Roster } from '../agents/agents.ts'
import { chainBreakOf } from './authority.ts'
import type { PermissionChain } from './authority.ts'
import { listsOverlap, narrowed } from './permission.ts'
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

/** Comparisons of patterns: about 50 ms, during which no other request runs. */
const MAX_COMPARED = 1_000_000
/** Patterns in a response, of up to 256 characters each. */
const MAX_LISTED = 100_000
/** A condition is as long as some patterns. */
const CONDITION = 8

/** Counts the work of a response; throws where it would delay other organizations. */
class Size {
  #compared = 0
  #listed = 0

  compare(as: readonly unknown[], bs: readonly unknown[]): void {
    this.#compared += as.length * bs.length
    this.#check()
  }

  list({ actions, resources, condition }: CompiledPermission): void {
    this.#listed += actions.length + resources.length + (condition === null ? 0 : CONDITION)
    this.#check()
  }

  #check(): void {
    if (this.#compared <= MAX_COMPARED && this.#listed <= MAX_LISTED) return
    throw fail(
      'invalid_request',
      'The agent has too many permissions, or its delegators too many denials, to list them at once; GET /v1/delegation lists permissions in pages',
    )
  }
}

/**
 * The effective permissions of an agent at a time, with reasons and ends. Actions listed as allowed
 * pass step 1 of a decision. Throws `invalid_request` where they are too many for a response.
 */
export function effectiveAt(
  { agentId, chains, denies, roster }: EffectiveInputs,
  now: number,
): Pick<EffectivePermissions, 'grants' | 'denies' | 'changes_at'> {
  const lasting = denies.filter(({ expiresAt }) => expiresAt === null || now < expiresAt)
  const own = lasting.filter((deny) => isAbout(deny, agentId))
  const mine = new Set(own)
  const flowing = lasting.filter((deny) => !mine.has(deny))
  const sound = chains.filter(({ broken }) => broken === null)
  const size = new Size()
  const grants = sound
    .filter((chain) => chainBreakOf(chain, now, roster) === null)
    .flatMap((chain) => grantOf(chain, flowing, size) ?? [])
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
function grantOf(
  { links }: PermissionChain,
  denies: readonly CompiledPermission[],
  size: Size,
): Grant | null {
  for (const [i, link] of links.entries()) {
    size.list(link)
    const above = links[i - 1] ?? link
    size.compare(link.actions, above.actions)
    size.compare(link.resources, above.resources)
  }
  const actions = narrowed(links.map((link) => link.actions))
  const resources = narrowed(links.map((link) => link.resources))
  const partial = actions.isPartial || resources.isPartial
  const isEmpty = actions.patterns.length === 0 || resources.patterns.length === 0
  if (isEmpty && !partial) return null
  const ends = links.flatMap(({ expiresAt }) => expiresAt ?? [])
  const overlaps = (of: 'actions' | 'resources', deny: CompiledPermission) =>
    links.every((link) => {
      size.compare(link[of], deny[of])
      return listsOverlap(link[of], deny[of])
    })
  const delegators = links.slice(0, -1)
  size.compare(delegators, denies)
  const flowing = denies.filter(
    (deny) =>
      delegators.some(({ agentId }) => isAbout(deny, agentId)) &&
      overlaps('actions', deny) &&
      overlaps('resources', deny),
  )
  for (const deny of flowing) size.list(deny)
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
