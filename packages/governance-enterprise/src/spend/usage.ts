import type { SpendLimit } from '@remit/contract'
import { byWindow, fromMicroUsd } from '@remit/contract/values'
import type { AnyDatabase } from '@remit/core/db'
import type { SpendLimitRow } from '../tables/schema.ts'
import { readCounters } from '../counters/store.ts'
import { needsOf, windowsAt } from './evaluate.ts'

/** A limit in an entry. */
export const recordedLimit = (row: SpendLimitRow): Omit<SpendLimit, 'spent' | 'ledger'> => ({
  agent_id: row.agent_id,
  ...byWindow('cap', ({ word }) => {
    const micro = row[`${word}_micro`]
    return micro === null ? null : fromMicroUsd(micro)
  }),
  on_missing_amount: row.on_missing_amount === 'deny' ? 'deny' : 'zero',
  hold_ttl_seconds: row.hold_ttl_seconds,
  settlement_by_agent: row.settlement_by_agent === 'any' ? 'any' : 'at_least_held',
  created_at: row.created_at,
  created_by: row.created_by,
  updated_at: row.updated_at,
})

/** Limits in API form with the ledger's totals; expired holds do not count. */
export async function withUsage(
  db: AnyDatabase,
  rows: readonly SpendLimitRow[],
  now: number,
): Promise<SpendLimit[]> {
  const [first] = rows
  if (!first) return []
  const windows = windowsAt(now)
  const needs = rows.flatMap((row) => needsOf(row.agent_id, windows, true))
  const counters = await readCounters(needs, { tx: db, orgId: first.org_id, now })
  return rows.map((row) => ({
    ...recordedLimit(row),
    spent: byWindow('name', ({ name }) => {
      const { id, from, resets } = windows[name]
      const { used, held } = counters.of(row.agent_id, id)
      return { from, usd: fromMicroUsd(used), held_usd: fromMicroUsd(held), resets_at: resets }
    }),
  }))
}
