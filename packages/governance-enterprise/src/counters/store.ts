import { isoTime } from '@remit/core/base'
import { on } from '@remit/core/db'
import type { AnyDatabase, BulkInsert } from '@remit/core/db'
import type { Counter, CounterNeed, Counters, DecisionScope, Move } from '@remit/core/decision'
import { sql } from 'kysely'
import type { SpendHoldRow, SpendTotalRow, Tables } from '../tables/schema.ts'
import { ended } from './charges.ts'

/** Counters as they are stored, without the holds that are over. */
export class StoredCounters implements Counters {
  readonly #orgId: string
  readonly #ended: readonly SpendHoldRow[]
  /** By subject and window. */
  readonly #counters = new Map<string, Map<string, Counter>>()
  readonly #moves: Move[] = []
  readonly #ends: readonly Move[]

  constructor(
    orgId: string,
    stored: readonly SpendTotalRow[],
    overdue: readonly SpendHoldRow[] = [],
    now = 0,
  ) {
    this.#orgId = orgId
    const ends = overdue.map((hold) => ended(hold, isoTime(now)))
    this.#ended = ends.map(({ hold }) => hold)
    this.#ends = ends.flatMap(({ moves }) => moves)
    for (const { agent_id, window_id, spent_micro: used, held_micro: held } of stored)
      Object.assign(this.of(agent_id, window_id), {
        used,
        held,
        before: used + held,
        isKnown: true,
      })
    for (const { subject, window, held } of this.#ends) {
      const counter = this.of(subject, window)
      counter.held += held
      counter.before += held
    }
  }

  of(subject: string, window: string): Counter {
    let ofSubject = this.#counters.get(subject)
    if (!ofSubject) this.#counters.set(subject, (ofSubject = new Map<string, Counter>()))
    let counter = ofSubject.get(window)
    if (!counter) ofSubject.set(window, (counter = { used: 0, held: 0, before: 0 }))
    return counter
  }

  apply(moves: readonly Move[]): void {
    for (const move of moves) {
      const counter = this.of(move.subject, move.window)
      counter.used += move.used
      counter.held += move.held
      counter.isKnown = true
      this.#moves.push(move)
    }
  }

  /** The moves, and the ends of the holds that are over. */
  writes(): BulkInsert[] {
    return [holdRows(this.#ended), counterRows(this.#orgId, [...this.#ends, ...this.#moves])]
  }
}

/** Reads counters; others of their subjects and windows may be among them. */
export async function readCounters(
  needs: readonly CounterNeed[],
  { tx, orgId, now }: Pick<DecisionScope, 'tx' | 'orgId' | 'now'>,
): Promise<StoredCounters> {
  if (needs.length === 0) return new StoredCounters(orgId, [])
  const subjects = new Set<string>()
  const windows = new Set<string>()
  const ending = new Set<string>()
  let chargesEnd = false
  for (const { subject, window, mayEnd } of needs) {
    subjects.add(subject)
    windows.add(window)
    if (!mayEnd) continue
    if (subject.startsWith('*')) chargesEnd = true
    else ending.add(subject)
  }
  const at = isoTime(now)
  const overdue = ending.size > 0 ? await findOverdueHolds(tx, orgId, [...ending], at) : []
  if (chargesEnd) {
    const known = new Set(overdue.map(({ decision_id }) => decision_id))
    const more = await findOverdueCharges(tx, orgId, at)
    overdue.push(...more.filter(({ decision_id }) => !known.has(decision_id)))
  }
  const stored = await on<Tables>(tx)
    .selectFrom('spend_total')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('agent_id', 'in', [...subjects])
    .where('window_id', 'in', [...windows])
    .execute()
  return new StoredCounters(orgId, stored, overdue, now)
}

const COUNTER_COLUMNS = {
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

/** Rows that add moves to their counters. */
export function counterRows(
  orgId: string,
  moves: readonly Move[],
): BulkInsert & {
  readonly rows: readonly SpendTotalRow[]
} {
  const rows = new Map<string, SpendTotalRow>()
  for (const { subject: agent_id, window: window_id, used, held } of moves) {
    if (used === 0 && held === 0) continue
    const key = `${window_id} ${agent_id}`
    let row = rows.get(key)
    if (!row)
      rows.set(key, (row = { org_id: orgId, agent_id, window_id, spent_micro: 0, held_micro: 0 }))
    row.spent_micro += used
    row.held_micro += held
  }
  return {
    table: 'spend_total',
    columns: COUNTER_COLUMNS,
    rows: [...rows.values()],
    suffix: ADDING,
  }
}

const NEW_HOLD_COLUMNS = {
  org_id: 'text',
  decision_id: 'text',
  agent_id: 'text',
  day: 'text',
  hour: 'text',
  held_micro: 'bigint',
} as const

const HOLD_COLUMNS = {
  ...NEW_HOLD_COLUMNS,
  state: 'text',
  expires_at: 'text',
  charges: 'text',
  charges_until: 'text',
} as const

const CHARGES = ', charges = excluded.charges, charges_until = excluded.charges_until'

/** Rows of holds; an existing hold changes its state. */
export function holdRows(holds: readonly SpendHoldRow[]): BulkInsert {
  // Nearly all are new and without an end, which are the defaults of the table.
  const plain = holds.every(
    ({ state, expires_at, charges }) => state === 'held' && expires_at === null && charges === null,
  )
  return {
    table: 'spend_hold',
    columns: plain ? NEW_HOLD_COLUMNS : HOLD_COLUMNS,
    rows: holds,
    suffix: `on conflict (org_id, decision_id) do update set state = excluded.state${plain ? '' : CHARGES}`,
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
async function findOverdueHolds(
  db: AnyDatabase,
  orgId: string,
  agentIds: readonly string[],
  now: string,
): Promise<SpendHoldRow[]> {
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

/** Holds whose charges are over in part. The rest counts until a later transaction. */
const findOverdueCharges = (db: AnyDatabase, orgId: string, now: string): Promise<SpendHoldRow[]> =>
  on<Tables>(db)
    .selectFrom('spend_hold')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('charges_until', 'is not', null)
    .where('charges_until', '<=', now)
    .orderBy('charges_until')
    .limit(1_000)
    .execute()

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
