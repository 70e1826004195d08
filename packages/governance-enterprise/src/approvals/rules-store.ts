import { on } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import type { Tables } from '../tables/schema.ts'
import type { ApprovalRuleRow } from '../tables/approvals.ts'

export const findRule = (
  db: AnyDatabase,
  orgId: string,
  id: string,
): Promise<ApprovalRuleRow | undefined> =>
  on<Tables>(db)
    .selectFrom('approval_rule')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .executeTakeFirst()

/** Rules in order of id, after `afterId`. */
export async function listRules(
  db: AnyDatabase,
  orgId: string,
  options: { limit?: number; afterId?: string | undefined } = {},
): Promise<ApprovalRuleRow[]> {
  let query = on<Tables>(db)
    .selectFrom('approval_rule')
    .selectAll()
    .where('org_id', '=', orgId)
    .orderBy('id')
  if (options.afterId !== undefined) query = query.where('id', '>', options.afterId)
  if (options.limit !== undefined) query = query.limit(options.limit)
  return query.execute()
}

/** Inserts or replaces the rule. */
export async function putRule(db: AnyDatabase, row: ApprovalRuleRow): Promise<void> {
  const { document, updated_at } = row
  await on<Tables>(db)
    .insertInto('approval_rule')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['org_id', 'id']).doUpdateSet({ document, updated_at }),
    )
    .execute()
}

export async function deleteRule(db: AnyDatabase, orgId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await on<Tables>(db)
    .deleteFrom('approval_rule')
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
