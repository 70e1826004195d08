import type { SpendLimit } from '@remit/contract'
import { fromMicroUsd } from '@remit/contract/values'
import { isoTime } from '@remit/core/base'
import type { AnyDatabase } from '@remit/core/db'
import type { SpendLimitRow } from '../tables/schema.ts'
import { findOverdueHolds, readTotals } from './totals-store.ts'
import { monthOf, windowsAt } from './evaluate.ts'

const usd = (amount: number | null): number | null =>
  amount === null ? null : fromMicroUsd(amount)

/** A limit in an entry. */
export const recordedLimit = (row: SpendLimitRow): Omit<SpendLimit, 'spent' | 'ledger'> => ({
  agent_id: row.agent_id,
  daily_usd: usd(row.daily_micro),
  monthly_usd: usd(row.monthly_micro),
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
  const agents = rows.map((row) => row.agent_id)
  const totals = await readTotals(db, first.org_id, agents, [windows.day, windows.month])
  const overdue = await findOverdueHolds(db, first.org_id, agents, isoTime(now))
  return rows.map((row) => {
    const usage = (window: string, from: string, resets_at: string) => {
      const total = totals.find((one) => one.agent_id === row.agent_id && one.window_id === window)
      const ended = overdue.filter(
        (hold) => hold.agent_id === row.agent_id && [hold.day, monthOf(hold.day)].includes(window),
      )
      const held = (total?.held_micro ?? 0) - ended.reduce((sum, hold) => sum + hold.held_micro, 0)
      return {
        from,
        usd: fromMicroUsd(total?.spent_micro ?? 0),
        held_usd: fromMicroUsd(held),
        resets_at,
      }
    }
    return {
      ...recordedLimit(row),
      spent: {
        day: usage(windows.day, windows.dayFrom, windows.dayResets),
        month: usage(windows.month, windows.monthFrom, windows.monthResets),
      },
    }
  })
}
