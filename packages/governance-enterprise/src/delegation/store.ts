import { sql } from 'kysely'
import { MAX_DELEGATION_DEPTH } from '@remit/contract/values'
import { on, orgTable } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'
import type { PermissionRow, AgentModeRow } from '../tables/delegation.ts'

// The number of statement parameters is limited; long lists are split.
const PART = 1_000

/** Only the mutable columns of a permission are replaced. The list includes revoked ones. */
export const {
  find: findPermission,
  list: listPermissions,
  put: putPermission,
} = orgTable<Tables, 'agent_permission'>('agent_permission', 'id', [
  'parent_id',
  'created_at',
  'created_by',
])

/** The permissions of these ids, including revoked ones. */
export async function findPermissions(
  db: AnyDatabase,
  orgId: string,
  ids: readonly string[],
): Promise<PermissionRow[]> {
  const rows: PermissionRow[] = []
  for (let start = 0; start < ids.length; start += PART) {
    const where = { id: ids.slice(start, start + PART) }
    rows.push(...(await listPermissions(db, orgId, { where })))
  }
  return rows
}

/**
 * Permissions changed after a revision, including revoked ones; null returns all that are not
 * revoked.
 */
export const permissionsSince = (
  db: AnyDatabase,
  orgId: string,
  revision: number | null,
): Promise<PermissionRow[]> => {
  const all = on<Tables>(db).selectFrom('agent_permission').selectAll().where('org_id', '=', orgId)
  return (
    revision === null ? all.where('revoked_at', 'is', null) : all.where('revision', '>', revision)
  ).execute()
}

/** The unrevoked permissions of the given agents, and all pattern denials. */
export async function livePermissionsAbout(
  db: AnyDatabase,
  orgId: string,
  agentIds: readonly string[],
): Promise<PermissionRow[]> {
  const live = on<Tables>(db)
    .selectFrom('agent_permission')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('revoked_at', 'is', null)
    .orderBy('id')
  const rows = await live.where('agent_id', 'like', '%*%').execute()
  for (let start = 0; start < agentIds.length; start += PART) {
    const part = agentIds.slice(start, start + PART)
    rows.push(...(await live.where('agent_id', 'in', part).execute()))
  }
  return rows
}

/** The agent patterns of denials; their number is limited. */
export async function agentPatterns(db: AnyDatabase, orgId: string): Promise<string[]> {
  const rows = await on<Tables>(db)
    .selectFrom('agent_permission')
    .select('agent_id')
    .distinct()
    .where('org_id', '=', orgId)
    .where('revoked_at', 'is', null)
    .where('agent_id', 'like', '%*%')
    .execute()
  return rows.map((row) => row.agent_id)
}

/** The given rows and all their ancestors, by id. */
export async function withAncestors(
  db: AnyDatabase,
  orgId: string,
  rows: readonly PermissionRow[],
): Promise<Map<string, PermissionRow>> {
  const known = new Map(rows.map((row) => [row.id, row]))
  let last = rows
  for (let level = 0; level <= MAX_DELEGATION_DEPTH && last.length > 0; level++) {
    const parents = new Set(last.flatMap((row) => row.parent_id ?? []))
    last = await findPermissions(
      db,
      orgId,
      [...parents].filter((id) => !known.has(id)),
    )
    for (const row of last) known.set(row.id, row)
  }
  return known
}

/** Revokes a permission and its descendants; returns the ids, its own first. */
export async function revokeTree(
  db: AnyDatabase,
  orgId: string,
  id: string,
  how: { at: string; by: string; revision: number },
): Promise<string[]> {
  // `union` returns each id once, so stored cycles end.
  const { rows } = await sql<{ id: string }>`with recursive tree(id) as (
      select id from agent_permission where org_id = ${orgId} and id = ${id} and revoked_at is null
      union
      select child.id from agent_permission child join tree on child.parent_id = tree.id
      where child.org_id = ${orgId} and child.revoked_at is null)
    select id from tree order by id`.execute(on<Tables>(db))
  const ids = rows.map((row) => row.id)
  for (let start = 0; start < ids.length; start += PART) {
    await on<Tables>(db)
      .updateTable('agent_permission')
      .set({ revoked_at: how.at, revoked_by: how.by, revision: how.revision })
      .where('org_id', '=', orgId)
      .where('id', 'in', ids.slice(start, start + PART))
      .execute()
  }
  return [id, ...ids.filter((one) => one !== id)].slice(0, ids.length)
}

export async function countPatternDenies(db: AnyDatabase, orgId: string): Promise<number> {
  const { count } = await on<Tables>(db)
    .selectFrom('agent_permission')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('org_id', '=', orgId)
    .where('revoked_at', 'is', null)
    .where('agent_id', 'like', '%*%')
    .executeTakeFirstOrThrow()
  return Number(count)
}

export const {
  find: findMode,
  list: listModes,
  put: putMode,
} = orgTable<Tables, 'agent_mode'>('agent_mode', 'agent_id', [])

/** Modes set after a revision; null for all. */
export const modesSince = (
  db: AnyDatabase,
  orgId: string,
  revision: number | null,
): Promise<AgentModeRow[]> => {
  const all = on<Tables>(db).selectFrom('agent_mode').selectAll().where('org_id', '=', orgId)
  return (revision === null ? all : all.where('revision', '>', revision)).execute()
}
