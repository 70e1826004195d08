import { on } from '@remit/core/db'
import type { AnyDatabase, BulkInsert } from '@remit/core/db'
import { sql } from 'kysely'
import type { SpendHoldRow, SpendTotalRow, Tables } from '../tables/schema.ts'
import { monthOf } from './evaluate.ts'

/** A change of an agent's spend on one day and in its month; micro-USD, may be negative. */
export interface Movement {
  readonly agentId: string
  readonly day: string
  readonly spent: number
  readonly held: number
}

const TOTAL_COLUMNS = {
  org_id: 'text',
  agent_id: 'text',
  window_id: 'text',
  spent_micro: 'bigint',
  held_micro: 'bigint',
} as const

/** Far above any cap; keeps sums within 64 bits. */
const MOST = '8000000000000000000'
const ADDING = `on conflict (org_id, agent_id, window_id) do update set ${[
  'spent_micro',
  'held_micro',
]
  .map(
    (name) =>
      `${name} = case when spend_total.${name} + excluded.${name} > ${MOST} then ${MOST} else spend_total.${name} + excluded.${name} end`,
  )
  .join(', ')}`

/** Rows that add movements to the totals of their days and months. */
export function totalRows(orgId: string, movements: readonly Movement[]): BulkInsert {
  const rows = new Map<string, SpendTotalRow>()
  for (const { agentId, day, spent, held } of movements) {
    if (spent === 0 && held === 0) continue
    for (const window_id of [day, monthOf(day)]) {
      const key = `${window_id} ${agentId}`
      const row = rows.get(key) ?? {
        org_id: orgId,
        agent_id: agentId,
        window_id,
        spent_micro: 0,
        held_micro: 0,
      }
      row.spent_micro += spent
      row.held_micro += held
      rows.set(key, row)
    }
  }
  return {
    table: 'spend_total',
    columns: TOTAL_COLUMNS,
    rows: [...rows.values()],
    suffix: ADDING,
  }
}

/** Totals of agents in windows. */
export async function readTotals(
  db: AnyDatabase,
  orgId: string,
  agentIds: readonly string[],
  windows: readonly string[],
): Promise<SpendTotalRow[]> {
  if (agentIds.length === 0) return []
  return on<Tables>(db)
    .selectFrom('spend_total')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('agent_id', 'in', agentIds)
    .where('window_id', 'in', windows)
    .execute()
}

const NEW_HOLD_COLUMNS = {
  org_id: 'text',
  decision_id: 'text',
  agent_id: 'text',
  day: 'text',
  held_micro: 'bigint',
} as const

const HOLD_COLUMNS = { ...NEW_HOLD_COLUMNS, state: 'text', expires_at: 'text' } as const

/** Rows of holds; an existing hold changes its state. */
export function holdRows(holds: readonly SpendHoldRow[]): BulkInsert {
  // Nearly all are new and without an end, which are the defaults of the table.
  const plain = holds.every(({ state, expires_at }) => state === 'held' && expires_at === null)
  return {
    table: 'spend_hold',
    columns: plain ? NEW_HOLD_COLUMNS : HOLD_COLUMNS,
    rows: holds,
    suffix: 'on conflict (org_id, decision_id) do update set state = excluded.state',
  }
}

export async function findHolds(
  db: AnyDatabase,
  orgId: string,
  decisionIds: readonly string[],
): Promise<SpendHoldRow[]> {
  if (decisionIds.length === 0) return []
  return on<Tables>(db)
    .selectFrom('spend_hold')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('decision_id', 'in', decisionIds)
    .execute()
}

/** Expired holds of agents that still count. */
export async function findOverdueHolds(
  db: AnyDatabase,
  orgId: string,
  agentIds: readonly string[],
  now: string,
): Promise<SpendHoldRow[]> {
  if (agentIds.length === 0) return []
  return on<Tables>(db)
    .selectFrom('spend_hold')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('agent_id', 'in', agentIds)
    .where('state', '=', 'held')
    .where('expires_at', 'is not', null)
    .where('expires_at', '<=', now)
    .execute()
}

interface OpenHoldsOptions {
  readonly limit: number
  /** The decision of the last hold of the previous page. */
  readonly cursor?: string | undefined
  readonly agent_id?: string | undefined
  readonly now: string
}

/** Holds that still count, in the order of their decisions. */
export async function listOpenHolds(
  db: AnyDatabase,
  orgId: string,
  { limit, cursor, agent_id: agentId, now }: OpenHoldsOptions,
): Promise<SpendHoldRow[]> {
  let query = on<Tables>(db)
    .selectFrom('spend_hold')
    .selectAll()
    .where('org_id', '=', orgId)
    // Literals: SQLite finds no partial index for a parameter.
    .where('state', '=', sql.lit('held'))
    .where('held_micro', '>', sql.lit(0))
    .where((hold) => hold.or([hold('expires_at', 'is', null), hold('expires_at', '>', now)]))
    .orderBy('decision_id')
    .limit(limit)
  if (cursor !== undefined) query = query.where('decision_id', '>', cursor)
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId)
  return query.execute()
}

/** Agents with expiring holds. */
export async function agentsWithEndingHolds(db: AnyDatabase, orgId: string): Promise<string[]> {
  const rows = await on<Tables>(db)
    .selectFrom('spend_hold')
    .select('agent_id')
    .distinct()
    .where('org_id', '=', orgId)
    .where('state', '=', 'held')
    .where('expires_at', 'is not', null)
    .execute()
  return rows.map((row) => row.agent_id)
}
