import { on } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import type { Tables } from '../tables/schema.ts'
import type { TrustPolicyRow } from '../tables/trust.ts'

/** Policies in order of creation, after `afterId`. */
export async function listTrust(
  db: AnyDatabase,
  orgId: string,
  options: { limit?: number; afterId?: string | undefined } = {},
): Promise<TrustPolicyRow[]> {
  let query = on<Tables>(db)
    .selectFrom('trust_policy')
    .selectAll()
    .where('org_id', '=', orgId)
    .orderBy('id')
  if (options.afterId !== undefined) query = query.where('id', '>', options.afterId)
  if (options.limit !== undefined) query = query.limit(options.limit)
  return query.execute()
}

export async function countTrust(db: AnyDatabase, orgId: string): Promise<number> {
  const { count } = await on<Tables>(db)
    .selectFrom('trust_policy')
    .select((select) => select.fn.countAll().as('count'))
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertTrust(db: AnyDatabase, row: TrustPolicyRow): Promise<void> {
  await on<Tables>(db).insertInto('trust_policy').values(row).execute()
}

/** The deleted policy, or undefined. */
export const deleteTrust = (
  db: AnyDatabase,
  orgId: string,
  id: string,
): Promise<TrustPolicyRow | undefined> =>
  on<Tables>(db)
    .deleteFrom('trust_policy')
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
