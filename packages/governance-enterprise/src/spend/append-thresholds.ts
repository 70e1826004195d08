import type { EntryDraft, LedgerScope } from '@remit/core/ledger/lanes'
import { ByVersion } from '../base/by-version.ts'
import type { SpendHoldRow } from '../tables/schema.ts'
import { listLimits } from './limits-store.ts'
import { findOverdueHolds, readTotals } from './totals-store.ts'
import type { Movement } from './totals-store.ts'
import { countedIn, thresholdEntries, windowsAt } from './evaluate.ts'
import type { Caps } from './evaluate.ts'

/** Records the shares of caps that appends reach. */
export class AppendThresholds {
  readonly #caps = new ByVersion<ReadonlyMap<string, Caps>>()

  /** Entries for the shares that `movements` reach; call it before their rows are written. */
  async entries(
    movements: readonly Movement[],
    settled: readonly SpendHoldRow[],
    scope: LedgerScope,
  ): Promise<EntryDraft[]> {
    const spending = movements.filter(({ spent }) => spent > 0)
    if (spending.length === 0) return []
    const caps = await this.#caps.at(scope, () => loadCaps(scope))
    const agents = [...new Set(spending.map(({ agentId }) => agentId))].filter((id) => caps.has(id))
    if (agents.length === 0) return []
    const { orgId, tx, recordedAt, now } = scope
    const windows = windowsAt(now)
    const totals = await readTotals(tx, orgId, agents, [windows.day, windows.month])
    // Holds past their end are in the totals and do not count.
    const overdue = await findOverdueHolds(tx, orgId, agents, recordedAt)
    const ended = new Set(settled.map(({ decision_id }) => decision_id))
    return agents.flatMap((agentId) => {
      const limit = caps.get(agentId)
      if (!limit) return []
      const total = (window: string) => {
        const row = totals.find((one) => one.agent_id === agentId && one.window_id === window)
        return row ? row.spent_micro + row.held_micro : 0
      }
      const late = overdue.filter((hold) => hold.agent_id === agentId)
      const lateBefore = countedIn(windows, late.map(asAmount))
      const lateAfter = countedIn(
        windows,
        late.filter(({ decision_id }) => !ended.has(decision_id)).map(asAmount),
      )
      const moved = countedIn(
        windows,
        movements
          .filter((one) => one.agentId === agentId)
          .map(({ day, spent, held }) => ({ day, micro: spent + held })),
      )
      const counted = { day: total(windows.day), month: total(windows.month) }
      return thresholdEntries(
        limit,
        windows,
        { day: counted.day - lateBefore.day, month: counted.month - lateBefore.month },
        {
          day: counted.day + moved.day - lateAfter.day,
          month: counted.month + moved.month - lateAfter.month,
        },
      )
    })
  }
}

const asAmount = ({ day, held_micro }: SpendHoldRow) => ({ day, micro: held_micro })

async function loadCaps({ tx, orgId }: LedgerScope): Promise<ReadonlyMap<string, Caps>> {
  const rows = await listLimits(tx, orgId)
  return new Map(
    rows.map(({ agent_id, daily_micro, monthly_micro }) => [
      agent_id,
      { agentId: agent_id, dailyMicro: daily_micro, monthlyMicro: monthly_micro },
    ]),
  )
}
