import { fromMicroUsd, toMicroUsd } from '@remit/contract/values'
import { fail, isoTime } from '@remit/core/base'
import { SYSTEM } from '@remit/core/caller'
import { on, writeRows } from '@remit/core/db'
import type { AnyDatabase, CoreTables } from '@remit/core/db'
import { parsePayload } from '@remit/core/ledger/proofs'
import type { Move } from '@remit/core/decision'
import type { Deps, SpendAccounts, SpendComparison } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import type { SpendHoldRow, Tables } from '../tables/schema.ts'
import { settleHold } from '../counters/settle.ts'
import { agentMoves, counterRows, endOf, holdMoves, holdRows } from '../counters/store.ts'

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
  readonly moves: readonly Move[]
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
  const usd = ({ used, held }: Amounts) => ({
    spent_usd: fromMicroUsd(used),
    held_usd: fromMicroUsd(held),
  })
  return {
    entries,
    erased,
    pruned,
    complete: erased === 0 && !pruned,
    differences: differences.map(({ stored, ledger, ...place }) => ({
      ...place,
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
  const { holds, moves: all } = fold.at(now)
  const moves = all.filter(lasts(now))
  return {
    entries,
    erased,
    pruned: await isPruned(db, orgId),
    holds,
    moves,
    differences: differencesOf((await storedMoves(db, orgId, now)).filter(lasts(now)), moves),
  }
}

/** Counters of past hours are deleted; only that of the current one decides. */
const lasts =
  (now: string) =>
  ({ window }: Move): boolean =>
    window.length < 13 || window === now.slice(0, 13)

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

/** What the stored counters add up, without holds whose end nobody has noticed yet. */
async function storedMoves(db: AnyDatabase, orgId: string, now: string): Promise<Move[]> {
  const stored = await on<Tables>(db)
    .selectFrom('spend_total')
    .select([
      'agent_id as subject',
      'window_id as window',
      'spent_micro as used',
      'held_micro as held',
    ])
    .where('org_id', '=', orgId)
    .execute()
  const over = await on<Tables>(db)
    .selectFrom('spend_hold')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('state', '=', 'held')
    .where('expires_at', '<=', now)
    .execute()
  return [...stored, ...over.flatMap(endOf)]
}

async function replace(
  tx: AnyDatabase,
  orgId: string,
  { holds, moves }: Pick<Recomputed, 'holds' | 'moves'>,
): Promise<void> {
  for (const table of ['spend_total', 'spend_hold'] as const)
    await on<Tables>(tx).deleteFrom(table).where('org_id', '=', orgId).execute()
  for (let at = 0; at < holds.length; at += PAGE)
    await writeRows(tx, [holdRows(holds.slice(at, at + PAGE))])
  const { rows, ...into } = counterRows(orgId, moves)
  for (let at = 0; at < rows.length; at += PAGE)
    await writeRows(tx, [{ ...into, rows: rows.slice(at, at + PAGE) }])
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
  readonly #moves: Move[] = []

  constructor(orgId: string) {
    this.#orgId = orgId
  }

  /** Adds the next entry of the ledger. */
  add(entry: SpendEntry): void {
    if (entry.kind === 'authorization.decided') this.#hold(entry)
    else this.#cost(entry)
  }

  /** The holds and moves at a time; a hold past its end counts no more. */
  at(now: string): { readonly holds: SpendHoldRow[]; readonly moves: Move[] } {
    const holds = [...this.#holds.values()].map((hold) => {
      const isOver = hold.state === 'held' && hold.expires_at !== null && hold.expires_at <= now
      return isOver ? { ...hold, state: 'expired' as const } : hold
    })
    const over = holds.filter(({ state }) => state === 'expired')
    return { holds, moves: [...this.#moves, ...over.flatMap(endOf)] }
  }

  #hold({ recordedAt, agentId, decision, data }: SpendEntry): void {
    if (decision !== 'allow') return
    const { usd, expires_at: end } = (data['hold'] ?? {}) as { usd?: number; expires_at?: string }
    const hold: SpendHoldRow = {
      org_id: this.#orgId,
      decision_id: String(data['decision_id']),
      agent_id: agentId ?? '',
      day: recordedAt.slice(0, 10),
      hour: recordedAt.slice(0, 13),
      held_micro: toMicroUsd(usd ?? 0),
      state: 'held',
      expires_at: end ?? null,
    }
    this.#holds.set(hold.decision_id, hold)
    this.#moves.push(...holdMoves(hold, 0, hold.held_micro))
  }

  #cost({ recordedAt, agentId, actorId, data }: SpendEntry): void {
    const { cost_usd: cost, decision_id: decisionId } = data
    if (typeof cost !== 'number') return
    const hold = typeof decisionId === 'string' ? this.#holds.get(decisionId) : undefined
    if (hold) {
      this.#moves.push(...settleHold(hold, cost, recordedAt))
      this.#holds.set(hold.decision_id, { ...hold, state: 'settled' })
    } else this.#moves.push(...agentMoves(agentId ?? actorId, recordedAt, toMicroUsd(cost), 0))
  }
}

type Amounts = Pick<Move, 'used' | 'held'>

/** The amounts of one agent and window where two sets of counters differ. */
interface TotalDifference {
  readonly agent_id: string
  readonly window: string
  readonly stored: Amounts
  readonly ledger: Amounts
}

/** Returns the differences, in the order of agents and windows. */
function differencesOf(stored: readonly Move[], ledger: readonly Move[]): TotalDifference[] {
  const keyOf = ({ subject, window }: Move) => JSON.stringify([subject, window])
  const sums = [stored, ledger].map((moves) => {
    const byKey = new Map<string, { used: number; held: number }>()
    for (const move of moves) {
      const sum = byKey.get(keyOf(move)) ?? { used: 0, held: 0 }
      byKey.set(keyOf(move), { used: sum.used + move.used, held: sum.held + move.held })
    }
    return byKey
  })
  const keys = [...new Set(sums.flatMap((byKey) => [...byKey.keys()]))].toSorted()
  return keys.flatMap((key) => {
    const [agent_id, window] = JSON.parse(key) as [string, string]
    const [a = NONE, b = NONE] = sums.map((byKey) => byKey.get(key))
    return a.used === b.used && a.held === b.held
      ? []
      : [{ agent_id, window, stored: a, ledger: b }]
  })
}

const NONE: Amounts = { used: 0, held: 0 }
