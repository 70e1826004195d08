import { fromMicroUsd, toMicroUsd } from '@remit/contract/values'
import { fail, isoTime } from '@remit/core/base'
import { SYSTEM } from '@remit/core/caller'
import { on, writeRows } from '@remit/core/db'
import type { AnyDatabase, CoreTables } from '@remit/core/db'
import { parsePayload } from '@remit/core/ledger/proofs'
import type { Deps, SpendAccounts, SpendComparison } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import type { SpendHoldRow, SpendTotalRow, Tables } from '../tables/schema.ts'
import { holdRows, totalRows } from './totals-store.ts'
import type { Movement } from './totals-store.ts'
import { settleHold } from './settle.ts'

const PAGE = 1_000
/** Differences in an entry; all of them are in the result. */
const RECORDED = 100

/** The spend of the ledger, and how much of it can be read. */
interface Recomputed {
  readonly entries: number
  /** Entries about spend whose payload was erased. */
  readonly erased: number
  readonly pruned: boolean
  readonly holds: SpendHoldRow[]
  readonly totals: SpendTotalRow[]
  readonly differences: TotalDifference[]
}

/** Compares spend with the ledger, and replaces it. */
export const spendAccounts = ({ db, clock, writer }: Deps): SpendAccounts => ({
  async compare(orgId) {
    return comparisonOf(await recompute(db, orgId, isoTime(clock.now())))
  },

  rebuild: (orgId) =>
    writer.change(orgId, OPERATOR, async ({ tx, recordedAt }) => {
      const found = await recompute(tx, orgId, recordedAt)
      const comparison = comparisonOf(found)
      if (!comparison.complete) throw fail('invalid_request', INCOMPLETE)
      await replace(tx, orgId, found)
      const { entries, differences } = comparison
      const data = { entries, differences: differences.slice(0, RECORDED) }
      return {
        entries: [{ kind: 'spend.rebuilt', actor: SYSTEM, data }],
        reply: () => comparison,
      }
    }),
})

const INCOMPLETE =
  'The spend cannot be rebuilt: entries of the ledger were pruned or their payloads erased'

function comparisonOf({ entries, erased, pruned, differences }: Recomputed): SpendComparison {
  const usd = ({ spent, held }: TotalDifference['stored']) => ({
    spent_usd: fromMicroUsd(spent),
    held_usd: fromMicroUsd(held),
  })
  return {
    entries,
    erased,
    pruned,
    complete: erased === 0 && !pruned,
    differences: differences.map(({ agent_id, window, stored, ledger }) => ({
      agent_id,
      window,
      stored: usd(stored),
      ledger: usd(ledger),
    })),
  }
}

async function recompute(db: AnyDatabase, orgId: string, now: string): Promise<Recomputed> {
  const fold = new SpendFold(orgId)
  let entries = 0
  let erased = 0
  for (let after = -1; ;) {
    const page = await entriesAfter(db, orgId, after)
    for (const { kind, recorded_at: recordedAt, payload } of page) {
      const content = payload === null ? null : parsePayload(payload)
      if (content === null) erased++
      else
        fold.add({
          kind,
          recordedAt,
          agentId: content.agent_id,
          actorId: content.actor.id,
          decision: content.decision,
          data: content.data,
        })
    }
    entries += page.length
    const last = page.at(-1)
    if (!last || page.length < PAGE) break
    after = last.seq
  }
  const { holds, movements } = fold.at(now)
  const totals = totalRows(orgId, movements).rows as readonly SpendTotalRow[]
  return {
    entries,
    erased,
    pruned: await isPruned(db, orgId),
    holds,
    totals: [...totals],
    differences: differencesOf(await storedTotals(db, orgId, now), totals),
  }
}

const entriesAfter = (db: AnyDatabase, orgId: string, seq: number) =>
  on<CoreTables>(db)
    .selectFrom('ledger_entry')
    .select(['seq', 'kind', 'recorded_at', 'payload'])
    .where('org_id', '=', orgId)
    .where('seq', '>', seq)
    .where('kind', 'in', SPENDING)
    .orderBy('seq')
    .limit(PAGE)
    .execute()

const isPruned = async (db: AnyDatabase, orgId: string): Promise<boolean> =>
  (await on<CoreTables>(db)
    .selectFrom('ledger_cut')
    .select('size')
    .where('org_id', '=', orgId)
    .executeTakeFirst()) !== undefined

/** The totals without holds whose end nobody has noticed yet. */
async function storedTotals(
  db: AnyDatabase,
  orgId: string,
  now: string,
): Promise<readonly SpendTotalRow[]> {
  const stored = await on<Tables>(db)
    .selectFrom('spend_total')
    .selectAll()
    .where('org_id', '=', orgId)
    .execute()
  const over = await on<Tables>(db)
    .selectFrom('spend_hold')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('state', '=', 'held')
    .where('expires_at', '<=', now)
    .execute()
  const ended = totalRows(orgId, over.map(released)).rows as readonly SpendTotalRow[]
  const key = (row: SpendTotalRow) => `${row.window_id} ${row.agent_id}`
  const less = new Map(ended.map((row) => [key(row), row.held_micro]))
  return stored.map((row) => ({ ...row, held_micro: row.held_micro + (less.get(key(row)) ?? 0) }))
}

async function replace(
  tx: AnyDatabase,
  orgId: string,
  { holds, totals }: Pick<Recomputed, 'holds' | 'totals'>,
): Promise<void> {
  for (const table of ['spend_total', 'spend_hold'] as const)
    await on<Tables>(tx).deleteFrom(table).where('org_id', '=', orgId).execute()
  for (let at = 0; at < holds.length; at += PAGE)
    await writeRows(tx, [holdRows(holds.slice(at, at + PAGE))])
  const { rows: _, ...into } = totalRows(orgId, [])
  for (let at = 0; at < totals.length; at += PAGE)
    await writeRows(tx, [{ ...into, rows: totals.slice(at, at + PAGE) }])
}

/** Kinds of entries that move spend. */
const SPENDING = [
  'authorization.decided',
  'entry.appended',
  'enforcement.gap',
  'scorer.ran',
] as const

/** The parts of an entry that spend depends on. */
interface SpendEntry {
  readonly kind: string
  readonly recordedAt: string
  readonly agentId: string | null
  readonly actorId: string
  readonly decision: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** The spend of an organization, computed from nothing but its entries. */
class SpendFold {
  readonly #orgId: string
  readonly #holds = new Map<string, SpendHoldRow>()
  readonly #movements: Movement[] = []

  constructor(orgId: string) {
    this.#orgId = orgId
  }

  /** Adds the next entry of the ledger. */
  add(entry: SpendEntry): void {
    if (entry.kind === 'authorization.decided') this.#hold(entry)
    else this.#cost(entry)
  }

  /** The holds and movements at a time; a hold past its end counts no more. */
  at(now: string): { readonly holds: SpendHoldRow[]; readonly movements: Movement[] } {
    const holds = [...this.#holds.values()].map((hold) => {
      const isOver = hold.state === 'held' && hold.expires_at !== null && hold.expires_at <= now
      return isOver ? { ...hold, state: 'expired' as const } : hold
    })
    const over = holds.filter(({ state }) => state === 'expired').map(released)
    return { holds, movements: [...this.#movements, ...over] }
  }

  #hold({ recordedAt, agentId, decision, data }: SpendEntry): void {
    if (decision !== 'allow') return
    const { usd, expires_at: end } = (data['hold'] ?? {}) as { usd?: number; expires_at?: string }
    const hold: SpendHoldRow = {
      org_id: this.#orgId,
      decision_id: String(data['decision_id']),
      agent_id: agentId ?? '',
      day: recordedAt.slice(0, 10),
      held_micro: toMicroUsd(usd ?? 0),
      state: 'held',
      expires_at: end ?? null,
    }
    this.#holds.set(hold.decision_id, hold)
    this.#movements.push({
      agentId: hold.agent_id,
      day: hold.day,
      spent: 0,
      held: hold.held_micro,
    })
  }

  #cost({ recordedAt, agentId, actorId, data }: SpendEntry): void {
    const { cost_usd: cost, decision_id: decisionId } = data
    if (typeof cost !== 'number') return
    const hold = typeof decisionId === 'string' ? this.#holds.get(decisionId) : undefined
    if (hold) {
      this.#movements.push(...settleHold(hold, cost, recordedAt))
      this.#holds.set(hold.decision_id, { ...hold, state: 'settled' })
    } else {
      const day = recordedAt.slice(0, 10)
      this.#movements.push({ agentId: agentId ?? actorId, day, spent: toMicroUsd(cost), held: 0 })
    }
  }
}

/** The movement at the end of a hold that nobody settled. */
const released = (hold: SpendHoldRow): Movement => ({
  agentId: hold.agent_id,
  day: hold.day,
  spent: 0,
  held: -hold.held_micro,
})

/** The amounts of one agent and window where two sets of totals differ. */
interface TotalDifference {
  readonly agent_id: string
  readonly window: string
  readonly stored: { readonly spent: number; readonly held: number }
  readonly ledger: { readonly spent: number; readonly held: number }
}

/** Returns the differences, in the order of agents and windows. */
function differencesOf(
  stored: readonly SpendTotalRow[],
  ledger: readonly SpendTotalRow[],
): TotalDifference[] {
  const keyOf = (row: SpendTotalRow) => JSON.stringify([row.agent_id, row.window_id])
  const [before, after] = [stored, ledger].map(
    (rows) => new Map(rows.map((row) => [keyOf(row), row])),
  )
  const keys = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])].toSorted()
  return keys.flatMap((key) => {
    const [agent_id, window] = JSON.parse(key) as [string, string]
    const difference = {
      agent_id,
      window,
      stored: amountsOf(before?.get(key)),
      ledger: amountsOf(after?.get(key)),
    }
    const { stored: a, ledger: b } = difference
    return a.spent === b.spent && a.held === b.held ? [] : [difference]
  })
}

const amountsOf = (row: SpendTotalRow | undefined) => ({
  spent: row?.spent_micro ?? 0,
  held: row?.held_micro ?? 0,
})
