import { delegation } from '@remit/contract'
import type {
  Permission,
  AgentMode,
  PermissionInput,
  Answer,
  EffectivePermissions,
  Permission as Wire,
  Receipt,
} from '@remit/contract'
import { fail, isoTime } from '@remit/core/base'
import { actorOf, personOf, withAgent } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { implement, Reply } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import { receipted } from '@remit/core/ledger/lanes'
import type { Change, EntryDraft, LedgerScope } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { matchesPattern } from '@remit/contract/patterns'
import type { AnyDatabase } from '@remit/core/db'
import { rosterReader } from '../agents/agents.ts'
import type { ReadRoster, Roster } from '../agents/agents.ts'
import { admitCondition } from '../rules/admit-condition.ts'
import { ruleWarnings } from '../rules/lint.ts'
import { actionHints } from '../rules/seen-actions.ts'
import {
  checkDelegable,
  checkPatternDenies,
  checkReplaceable,
  grantedTerms,
  isNewPattern,
  parentChain,
} from './grant.ts'
import type { Granter } from './grant.ts'
import { toPermission, termsOf } from './permission.ts'
import {
  findPermission,
  revokeTree,
  countPatternDenies,
  putPermission,
  withAncestors,
  agentPatterns,
  listPermissions,
  livePermissionsAbout,
  findMode,
  putMode,
  listModes,
} from './store.ts'
import { agentAdmission, chainOf, chainBreakOf } from './authority.ts'
import type { PermissionChain } from './authority.ts'
import type { PermissionRow } from '../tables/delegation.ts'
import { listRequests } from '../approvals/store.ts'
import { wireApproval } from '../approvals/request.ts'
import { findLimit, withUsage } from '../budgets/store.ts'
import { effectiveAt } from './effective.ts'

// Entries have a maximum size; a larger tree has several.
const IDS_AN_ENTRY = 500

export const delegationRoutes = (deps: Deps): Route[] => {
  const { db, clock, writer } = deps
  const readRoster = rosterReader(deps)
  return implement(delegation, {
    getDelegation: ({ query }, caller) =>
      readOverview(db, readRoster, caller.orgId, query, clock.now()),

    getEffectivePermissions: ({ query }, caller) =>
      readEffective(db, readRoster, caller.orgId, withAgent(caller, query).agent_id, clock.now()),

    getPermission: async ({ params }, caller) => {
      const row = await findPermission(db, caller.orgId, params.id)
      const [permission] = await wirePermissions(
        db,
        readRoster,
        caller.orgId,
        row ? [row] : [],
        clock.now(),
      )
      if (!permission) throw fail('permission_not_found')
      return permission
    },

    grantPermission: async ({ params: { id }, body }, caller, request) => {
      admitCondition(body.condition)
      const hints = await actionHints(db, caller.orgId, body.actions)
      return writer.change(caller.orgId, request, putGrant(readRoster, id, body, hints))
    },

    revokePermission: ({ params: { id } }, caller, request) =>
      writer.change(caller.orgId, request, revokePermission(readRoster, id)),

    setAgentMode: ({ params: { agent_id }, body: { mode } }, caller, request) =>
      writer.change(caller.orgId, request, putAgentMode(agent_id, mode)),
  })
}

/** Creates or replaces a permission. */
export const putGrant =
  (
    readRoster: ReadRoster,
    id: string,
    body: PermissionInput,
    hints: readonly string[] = [],
  ): Change<Reply<Permission>> =>
  async (scope, caller) => {
    const { tx, now, orgId } = scope
    const { row, before, chain } = await grantPermission(scope, readRoster, caller, id, body)
    const further =
      row.effect === 'allow' ? await ensureGrantedMode(scope, caller, row.agent_id) : []
    const permission = wirePermission(row, chain, now, await readRoster(tx, orgId))
    const warnings = [...ruleWarnings(toPermission(row), row.effect, now), ...hints]
    const granted = {
      kind: 'permission.granted',
      ...headOf(permission, caller),
      replaced: before ? termsOf(before) : null,
    } as const
    const headers = { Location: `/v1/delegation/permissions/${id}` }
    return receipted(
      [granted, ...further],
      { ...permission, warnings },
      (answer) => new Reply<Permission>(answer, before ? { status: 200 } : { headers }),
    )
  }

/** Revokes a permission and its descendants. */
export const revokePermission =
  (
    readRoster: ReadRoster,
    id: string,
  ): Change<{ readonly revoked: string[]; readonly ledger: Receipt }> =>
  async (scope, caller) => {
    const { tx, now, orgId, recordedAt } = scope
    const revoked = await revokeTree(tx, orgId, id, {
      at: recordedAt,
      by: actorOf(caller).id,
      revision: scope.configVersion,
    })
    const row = await findPermission(tx, orgId, id)
    if (!row || revoked.length === 0) throw fail('permission_not_found')
    const [permission] = await wirePermissions(tx, readRoster, orgId, [row], now)
    if (!permission) throw fail('permission_not_found')
    const head = headOf(permission, caller)
    const parts = []
    for (let start = 0; start < revoked.length; start += IDS_AN_ENTRY)
      parts.push(revoked.slice(start, start + IDS_AN_ENTRY))
    const entryOf = (part: string[]): EntryDraft => ({
      kind: 'permission.revoked',
      ...head,
      data: { ...head.data, revoked: part },
    })
    return receipted(parts.map(entryOf), { revoked })
  }

/** Sets the mode of an agent. */
export const putAgentMode =
  (
    agentId: string,
    mode: AgentMode,
  ): Change<{ readonly agent_id: string; readonly mode: AgentMode; readonly ledger: Receipt }> =>
  async (scope, caller) =>
    receipted([await setMode(scope, caller, agentId, mode)], { agent_id: agentId, mode })

/** The head and the common data of an entry: the whole permission, without its time-dependent members. */
function headOf(whole: Permission, caller: Caller | null) {
  const { effective: _, ...permission } = whole
  return {
    actor: actorOf(caller),
    agent_id: permission.agent_id.includes('*') ? null : permission.agent_id,
    data: { permission, ...personOf(caller) },
  }
}

/** Sets the mode of an agent; returns its entry. */
async function setMode(
  { tx, orgId, recordedAt, configVersion }: LedgerScope,
  caller: Caller | null,
  agentId: string,
  mode: AgentMode,
): Promise<EntryDraft> {
  const actor = actorOf(caller)
  await putMode(tx, {
    org_id: orgId,
    agent_id: agentId,
    mode,
    changed_at: recordedAt,
    changed_by: actor.id,
    revision: configVersion,
  })
  const data = { agent_id: agentId, mode, ...personOf(caller) }
  return { kind: 'agent_mode.set', actor, agent_id: agentId, data }
}

/** Sets the mode `granted` with the first grant of an agent; later revocations keep it. */
async function ensureGrantedMode(
  scope: LedgerScope,
  caller: Caller | null,
  agentId: string,
): Promise<EntryDraft[]> {
  const before = await findMode(scope.tx, scope.orgId, agentId)
  return before?.mode === 'granted' ? [] : [await setMode(scope, caller, agentId, 'granted')]
}

interface GrantedPermission {
  readonly row: PermissionRow
  readonly before: PermissionRow | undefined
  readonly chain: PermissionChain
}

/** Stores a permission; throws if it is not allowed. */
async function grantPermission(
  scope: LedgerScope,
  readRoster: ReadRoster,
  caller: Caller | null,
  id: string,
  input: PermissionInput,
): Promise<GrantedPermission> {
  const { tx, orgId, now, recordedAt } = scope
  const before = await findPermission(tx, orgId, id)
  checkReplaceable(before, input)
  if (isNewPattern(before, input)) checkPatternDenies(await countPatternDenies(tx, orgId))
  const parent = input.parent_id === null ? null : await readParent(scope, input.parent_id)
  if (parent) checkDelegable(input, parent, now, await readRoster(tx, orgId))
  const { id: by } = actorOf(caller)
  const row: PermissionRow = {
    ...grantedTerms(id, input, parent, granterOf(caller)),
    org_id: orgId,
    created_at: before?.created_at ?? recordedAt,
    created_by: before?.created_by ?? by,
    updated_at: recordedAt,
    revision: scope.configVersion,
  }
  await putPermission(tx, row)
  const above = new Map(parent?.links.map((link) => [link.id, link]))
  return { row, before, chain: chainOf(toPermission(row), above) }
}

/** A root is granted by the person of the key, or by the key itself. */
const granterOf = (caller: Caller | null): Granter =>
  caller?.principal.person
    ? { type: 'user', id: caller.principal.person }
    : { type: 'key', id: actorOf(caller).id }

async function readParent({ tx, orgId }: LedgerScope, id: string): Promise<PermissionChain> {
  const row = await findPermission(tx, orgId, id)
  const rows = await withAncestors(tx, orgId, row ? [row] : [])
  return parentChain(id, new Map([...rows].map(([key, one]) => [key, toPermission(one)])))
}

type Overview = Answer<typeof delegation.getDelegation>

interface OverviewQuery {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly agent_id?: string | undefined
}

/** A page of permissions with their agents; the first page also has pending approvals. */
async function readOverview(
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
async function wirePermissions(
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
async function readEffective(
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

/** A permission in API form, with its chain at a time. */
function wirePermission(
  row: PermissionRow,
  chain: PermissionChain,
  now: number,
  roster: Roster,
): Wire {
  const dead = chainBreakOf(chain, now, roster)
  return {
    id: row.id,
    ...termsOf(row),
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
