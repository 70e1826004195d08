import { byWindow } from '@remit/contract/values'
import { orgTable } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'
import type { Limit } from './evaluate.ts'

const limits = orgTable<Tables, 'spend_limit'>('spend_limit', 'agent_id')

/** Limits are found and sorted by their agent. */
export const { find: findLimit, list: listLimits, put: putLimit, remove: deleteLimit } = limits

/** All limits of an organization, compiled, by agent. */
export async function compiledLimits(
  db: AnyDatabase,
  orgId: string,
): Promise<ReadonlyMap<string, Limit>> {
  const rows = await listLimits(db, orgId)
  return new Map(
    rows.map((row) => [
      row.agent_id,
      {
        agentId: row.agent_id,
        caps: byWindow('name', ({ word }) => row[`${word}_micro`]),
        onMissingAmount: row.on_missing_amount === 'deny' ? 'deny' : 'zero',
        holdTtlSeconds: row.hold_ttl_seconds,
      },
    ]),
  )
}

/** Returns `settlement_by_agent` of the limits of agents, by agent. */
export async function settlementsByAgent(
  db: AnyDatabase,
  orgId: string,
  agentIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await limits.list(db, orgId, { where: { agent_id: agentIds } })
  return new Map(rows.map((row) => [row.agent_id, row.settlement_by_agent]))
}
