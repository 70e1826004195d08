import { on } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import type { SpendLimitRow, Tables } from '../tables/schema.ts'

export const findLimit = (
  db: AnyDatabase,
  orgId: string,
  agentId: string,
): Promise<SpendLimitRow | undefined> =>
  on<Tables>(db)
    .selectFrom('spend_limit')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('agent_id', '=', agentId)
    .executeTakeFirst()

/** The agents whose limit allows their credentials to settle below the hold. */
export async function agentsThatSettleFreely(
  db: AnyDatabase,
  orgId: string,
  agentIds: readonly string[],
): Promise<Set<string>> {
  if (agentIds.length === 0) return new Set()
  const rows = await on<Tables>(db)
    .selectFrom('spend_limit')
    .select('agent_id')
    .where('org_id', '=', orgId)
    .where('agent_id', 'in', agentIds)
    .where('settlement_by_agent', '=', 'any')
    .execute()
  return new Set(rows.map(({ agent_id }) => agent_id))
}

/** Limits in order of agent, after `afterAgent`. */
export async function listLimits(
  db: AnyDatabase,
  orgId: string,
  options: { limit?: number; afterAgent?: string | undefined } = {},
): Promise<SpendLimitRow[]> {
  let query = on<Tables>(db)
    .selectFrom('spend_limit')
    .selectAll()
    .where('org_id', '=', orgId)
    .orderBy('agent_id')
  if (options.afterAgent !== undefined) query = query.where('agent_id', '>', options.afterAgent)
  if (options.limit !== undefined) query = query.limit(options.limit)
  return query.execute()
}

/** Inserts or replaces the limit. */
export async function putLimit(db: AnyDatabase, row: SpendLimitRow): Promise<void> {
  const { org_id: _org, agent_id: _agent, created_at: _at, created_by: _by, ...changed } = row
  await on<Tables>(db)
    .insertInto('spend_limit')
    .values(row)
    .onConflict((conflict) => conflict.columns(['org_id', 'agent_id']).doUpdateSet(changed))
    .execute()
}

/** Deletes the limit and returns it. */
export const deleteLimit = (
  db: AnyDatabase,
  orgId: string,
  agentId: string,
): Promise<SpendLimitRow | undefined> =>
  on<Tables>(db)
    .deleteFrom('spend_limit')
    .where('org_id', '=', orgId)
    .where('agent_id', '=', agentId)
    .returningAll()
    .executeTakeFirst()
