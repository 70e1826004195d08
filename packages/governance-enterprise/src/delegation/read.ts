import type { Answer, delegation, EffectivePermissions, Permission } from '@remit/contract'
import { matchesPattern } from '@remit/contract/patterns'
import { isoTime } from '@remit/core/base'
import type { AnyDatabase } from '@remit/core/db'
import type { ReadRoster } from '../agents/roster.ts'
import { agentAdmission } from '../agents/state.ts'
import { listRequests } from '../approvals/store.ts'
import { wireApproval } from '../approvals/request.ts'
import { findLimit } from '../spend/limits-store.ts'
import { withUsage } from '../spend/usage.ts'
import { chainOf, chainBreakOf } from './chain.ts'
import type { PermissionChain } from './chain.ts'
import { effectiveAt } from './effective.ts'
import { findMode, listModes } from './modes-store.ts'
import { toPermission } from './permission.ts'
import type { PermissionRow } from '../tables/delegation.ts'
import { agentPatterns, listPermissions, livePermissionsAbout, withAncestors } from './store.ts'
import { wirePermission } from './view.ts'

type Overview = Answer<typeof delegation.getDelegation>

export interface OverviewQuery {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly agent_id?: string | undefined
}

/** A page of permissions with their agents; the first page also has pending approvals. */
export async function readOverview(
  db: AnyDatabase,
  readRoster: ReadRoster,
  orgId: string,
  { limit, cursor, agent_id: agentId }: OverviewQuery,
  now: number,
): Promise<Overview> {
  const holders = agentId === undefined ? undefined : await holdersAbout(db, orgId, agentId)
  const found = await listPermissions(db, orgId, {
    limit: limit + 1,
    after: cursor,
    ...(holders && { where: { agent_id: holders } }),
  })
  const rows = found.slice(0, limit)
  const agents = new Set(rows.map((row) => row.agent_id).filter((id) => !id.includes('*')))
  if (agentId !== undefined) agents.add(agentId)
  const pending = { limit, status: 'pending' as const, agentId }
  const requests = cursor === undefined ? await listRequests(db, orgId, now, pending) : []
  return {
    permissions: await wirePermissions(db, readRoster, orgId, rows, now),
    agents: await readAgents(db, readRoster, orgId, [...agents].toSorted(), now),
    pending_approvals: requests.map((row) => wireApproval(row, now)),
    next_cursor: found.length > limit ? (rows.at(-1)?.id ?? null) : null,
  }
}

/** Permissions in API form, each with its chain. */
export async function wirePermissions(
  db: AnyDatabase,
  readRoster: ReadRoster,
  orgId: string,
  rows: readonly PermissionRow[],
  now: number,
): Promise<Permission[]> {
  const chains = await chainsOf(db, orgId, rows)
  const roster = await readRoster(db, orgId)
  return rows.flatMap((row) => {
    const chain = chains.get(row.id)
    return chain ? [wirePermission(row, chain, now, roster)] : []
  })
}

/** The current effective permissions of an agent, and its spend limit. */
export async function readEffective(
  db: AnyDatabase,
  readRoster: ReadRoster,
  orgId: string,
  agentId: string,
  now: number,
): Promise<EffectivePermissions> {
  const own = await livePermissionsAbout(db, orgId, [agentId])
  const held = own.filter((row) => row.effect === 'allow')
  const chains = [...(await chainsOf(db, orgId, held)).values()]
  const delegators = new Set(chains.flatMap(({ links }) => links.map((link) => link.agentId)))
  const about = await livePermissionsAbout(db, orgId, [agentId, ...delegators])
  const denies = about.filter((row) => row.effect === 'deny').map(toPermission)
  const roster = await readRoster(db, orgId)
  const state = agentAdmission(agentId, roster)
  const mode = await findMode(db, orgId, agentId)
  const limit = await findLimit(db, orgId, agentId)
  const [spend] = await withUsage(db, limit ? [limit] : [], now)
  return {
    agent_id: agentId,
    at: isoTime(now),
    state: state.state,
    suspended: state.state === 'suspended' ? { reason: state.reason } : null,
    mode: mode?.mode ?? 'open',
    spend_limit: spend ?? null,
    ...effectiveAt({ agentId, chains, denies, roster }, now),
  }
}

/** The agent, and patterns of denials that match it. */
async function holdersAbout(db: AnyDatabase, orgId: string, agentId: string): Promise<string[]> {
  const patterns = await agentPatterns(db, orgId)
  return [agentId, ...patterns.filter((pattern) => matchesPattern(pattern, agentId))]
}

async function readAgents(
  db: AnyDatabase,
  readRoster: ReadRoster,
  orgId: string,
  agentIds: readonly string[],
  now: number,
): Promise<Overview['agents']> {
  if (agentIds.length === 0) return []
  const rows = await livePermissionsAbout(db, orgId, agentIds)
  const chains = await chainsOf(db, orgId, rows)
  const roster = await readRoster(db, orgId)
  const live = [...chains.values()].filter((chain) => chainBreakOf(chain, now, roster) === null)
  const inForce = live.flatMap(({ links }) => links.at(-1) ?? [])
  const found = await listModes(db, orgId, { where: { agent_id: agentIds } })
  const modes = new Map(found.map(({ agent_id, mode }) => [agent_id, mode]))
  return agentIds.map((id) => ({
    agent_id: id,
    mode: modes.get(id) ?? 'open',
    denied:
      agentAdmission(id, roster).state !== 'active' ||
      inForce.some(({ effect, agentId }) => effect === 'deny' && matchesPattern(agentId, id)),
    live_permissions: inForce.filter(({ effect, agentId }) => effect === 'allow' && agentId === id)
      .length,
  }))
}

/** The chain of each row, by id. */
async function chainsOf(
  db: AnyDatabase,
  orgId: string,
  rows: readonly PermissionRow[],
): Promise<Map<string, PermissionChain>> {
  const known = await withAncestors(db, orgId, rows)
  const byId = new Map([...known.values()].map((row) => [row.id, toPermission(row)]))
  return new Map(
    rows.flatMap(({ id }) => {
      const permission = byId.get(id)
      return permission ? [[id, chainOf(permission, byId)]] : []
    }),
  )
}
