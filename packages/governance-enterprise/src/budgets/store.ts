/** The tables of budgets and spend limits. */
import type { SpendLimit } from '@remit/contract'
import { byWindow, fromMicroUsd } from '@remit/contract/values'
import { isoTime } from '@remit/core/base'
import { on, orgTable } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { readCounters } from '../counters/store.ts'
import type { SpendLimitRow, Tables } from '../tables/schema.ts'
import { needsOf, recordedLimit, windowsAt } from './limits.ts'
import type { Limit } from './limits.ts'
import { treeOf } from './tree.ts'
import type { BudgetSource, BudgetTree } from './tree.ts'

export const {
  find: findBudget,
  list: listBudgets,
  put: putBudget,
  remove: deleteBudget,
} = orgTable<Tables, 'budget'>('budget', 'id', ['uid', 'parent_id', 'created_at', 'created_by'])

/** Reads the budgets of an organization. */
export type ReadBudgets = (db: AnyDatabase, orgId: string) => Promise<BudgetSource>

/** Reads budgets, with the registry of agents. */
export const budgetReader =
  ({ offered }: Pick<Deps, 'offered'>): ReadBudgets =>
  async (db, orgId) => {
    const rows = await listBudgets(db, orgId)
    return {
      rows,
      registry: (await offered('agentRegistry')?.load(orgId, db)) ?? null,
      mayEnd: rows.length > 0 && (await hasEndingCharges(db, orgId)),
    }
  }

/** Reads and compiles the budgets of an organization; null without any. */
export type LoadTree = (db: AnyDatabase, orgId: string) => Promise<BudgetTree | null>

export const treeLoader =
  (deps: Pick<Deps, 'offered'>): LoadTree =>
  async (db, orgId) =>
    treeOf(await budgetReader(deps)(db, orgId))

async function hasEndingCharges(db: AnyDatabase, orgId: string): Promise<boolean> {
  const row = await on<Tables>(db)
    .selectFrom('spend_hold')
    .select('decision_id')
    .where('org_id', '=', orgId)
    .where('charges_until', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

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
      const { id, from, resetsAt } = windows[name]
      const { used, held } = counters.of(row.agent_id, id)
      return {
        from: isoTime(from),
        usd: fromMicroUsd(used),
        held_usd: fromMicroUsd(held),
        resets_at: resetsAt,
      }
    }),
  }))
}
