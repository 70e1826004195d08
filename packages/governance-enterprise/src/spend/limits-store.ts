import { orgTable } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'

const limits = orgTable<Tables, 'spend_limit'>('spend_limit', 'agent_id')

/** Limits are found and sorted by their agent. */
export const { find: findLimit, list: listLimits, put: putLimit, remove: deleteLimit } = limits

/** The agents whose limit allows their credentials to settle below the hold. */
export async function agentsThatSettleFreely(
  db: AnyDatabase,
  orgId: string,
  agentIds: readonly string[],
): Promise<Set<string>> {
  const where = { agent_id: agentIds, settlement_by_agent: 'any' } as const
  const rows = await limits.list(db, orgId, { where })
  return new Set(rows.map(({ agent_id }) => agent_id))
}
