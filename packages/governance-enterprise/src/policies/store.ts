import { randomUUID } from 'node:crypto'
import { on, orgTable } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'
import type { PolicyRuleRow } from '../tables/policies.ts'

const rules = orgTable<Tables, 'policy_rule'>('policy_rule', 'id')

/** Sorted by id; ids of the server sort by creation. */
export const { find: findRule, list: listRules } = rules

/** The rules that are enforced or observed. */
export const listEnabledRules = (db: AnyDatabase, orgId: string): Promise<PolicyRuleRow[]> =>
  on<Tables>(db)
    .selectFrom('policy_rule')
    .selectAll()
    .where((rule) => rule.or([rule('enabled', '=', 1), rule('observed', '=', 1)]))
    .where('org_id', '=', orgId)
    .orderBy('id')
    .execute()

/** The ids that exist among the given ones, or the ids of all broad rules. */
export async function listIds(
  db: AnyDatabase,
  orgId: string,
  which: readonly string[] | 'broad',
): Promise<Set<string>> {
  const where = which === 'broad' ? { broad: 1 } : { id: which }
  return new Set((await rules.list(db, orgId, { where })).map(({ id }) => id))
}

export const countRules = (db: AnyDatabase, orgId: string): Promise<number> =>
  rules.count(db, orgId)

export const countBroadRules = (db: AnyDatabase, orgId: string): Promise<number> =>
  rules.count(db, orgId, { broad: 1 })

export async function insertRule(db: AnyDatabase, row: PolicyRuleRow): Promise<void> {
  await rules.insert(db, row)
  await moveRevision(db, row.org_id)
}

/** Stores the next version of a rule. */
export async function updateRule(db: AnyDatabase, row: PolicyRuleRow): Promise<void> {
  await rules.update(db, row)
  await moveRevision(db, row.org_id)
}

/** The deleted rule, or undefined. */
export async function deleteRule(
  db: AnyDatabase,
  orgId: string,
  id: string,
): Promise<PolicyRuleRow | undefined> {
  const row = await rules.remove(db, orgId, id)
  if (row) await moveRevision(db, orgId)
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

/** Names the state after a change; at random, because a removed id can be used again. */
async function moveRevision(db: AnyDatabase, orgId: string): Promise<void> {
  const revision = randomUUID()
  await on<Tables>(db)
    .insertInto('policy_revision')
    .values({ org_id: orgId, revision })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet({ revision }))
    .execute()
}
