import { on, orgTable } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import type { Tables } from '../tables/schema.ts'

/** Limits are found and sorted by their agent. */
export const {
  find: findLimit,
  list: listLimits,
  put: putLimit,
  remove: deleteLimit,
} = orgTable<Tables, 'spend_limit'>('spend_limit', 'agent_id')

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
