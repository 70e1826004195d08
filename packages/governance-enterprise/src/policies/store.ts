import { on } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import type { Tables } from '../tables/schema.ts'
import type { PolicyRuleRow } from '../tables/policies.ts'

/** Rules in order of creation, after `afterId`. */
export async function listRules(
  db: AnyDatabase,
  orgId: string,
  options: { limit?: number; afterId?: string | undefined } = {},
): Promise<PolicyRuleRow[]> {
  let query = on<Tables>(db)
    .selectFrom('policy_rule')
    .selectAll()
    .where('org_id', '=', orgId)
    .orderBy('id')
  if (options.afterId !== undefined) query = query.where('id', '>', options.afterId)
  if (options.limit !== undefined) query = query.limit(options.limit)
  return query.execute()
}

/** Enabled rules. */
export const listEnabledRules = (db: AnyDatabase, orgId: string): Promise<PolicyRuleRow[]> =>
  on<Tables>(db)
    .selectFrom('policy_rule')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('enabled', '=', 1)
    .orderBy('id')
    .execute()

/** The ids that exist among the given ones, or the ids of all broad rules. */
export async function listIds(
  db: AnyDatabase,
  orgId: string,
  which: readonly string[] | 'broad',
): Promise<Set<string>> {
  if (which.length === 0) return new Set()
  const query = on<Tables>(db).selectFrom('policy_rule').select('id').where('org_id', '=', orgId)
  const rows = await (
    which === 'broad' ? query.where('broad', '=', 1) : query.where('id', 'in', which)
  ).execute()
  return new Set(rows.map(({ id }) => id))
}

export async function countBroadRules(db: AnyDatabase, orgId: string): Promise<number> {
  const { count } = await on<Tables>(db)
    .selectFrom('policy_rule')
    .select((select) => select.fn.countAll().as('count'))
    .where('org_id', '=', orgId)
    .where('broad', '=', 1)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertRule(db: AnyDatabase, row: PolicyRuleRow): Promise<void> {
  await on<Tables>(db).insertInto('policy_rule').values(row).execute()
  await moveRevision(db, row.org_id, row.id)
}

export const findRule = (
  db: AnyDatabase,
  orgId: string,
  id: string,
): Promise<PolicyRuleRow | undefined> =>
  on<Tables>(db)
    .selectFrom('policy_rule')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .executeTakeFirst()

/** Stores the next version of a rule. */
export async function updateRule(db: AnyDatabase, row: PolicyRuleRow): Promise<void> {
  const { org_id, id, ...version } = row
  await on<Tables>(db)
    .updateTable('policy_rule')
    .set(version)
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .execute()
  await moveRevision(db, org_id, `${id} ${row.revision}`)
}

/** The deleted rule, or undefined. */
export async function deleteRule(
  db: AnyDatabase,
  orgId: string,
  id: string,
): Promise<PolicyRuleRow | undefined> {
  const row = await on<Tables>(db)
    .deleteFrom('policy_rule')
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  if (row) await moveRevision(db, orgId, `without ${id}`)
  return row
}

/** Identifies a state of an organization's rules; null before its first rule. */
export async function findRevision(db: AnyDatabase, orgId: string): Promise<string | null> {
  const row = await on<Tables>(db)
    .selectFrom('policy_revision')
    .select('revision')
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return row?.revision ?? null
}

/** Each change has another name, so the last one identifies the state. */
async function moveRevision(db: AnyDatabase, orgId: string, revision: string): Promise<void> {
  await on<Tables>(db)
    .insertInto('policy_revision')
    .values({ org_id: orgId, revision })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet({ revision }))
    .execute()
}
