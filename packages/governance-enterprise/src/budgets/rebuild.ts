import type { BudgetInput } from '@remit/contract'
import { fromMicroUsd, fromUnits, toMicroUsd, toUnits } from '@remit/contract/values'
import { fail, isoTime } from '@remit/core/base'
import { SYSTEM } from '@remit/core/caller'
import { on, writeRows } from '@remit/core/db'
import type { AnyDatabase, CoreTables } from '@remit/core/db'
import { parsePayload } from '@remit/core/ledger/proofs'
import type { Move } from '@remit/core/decision'
import type { EntryData } from '@remit/core/ledger/lanes'
import type { Deps, SpendAccounts, SpendComparison } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import type { SpendHoldRow, Tables } from '../tables/schema.ts'
import { settleHold } from '../counters/settle.ts'
import {
  agentMoves,
  chargesOf,
  ended,
  holdMoves,
  subjectOf,
  withCharges,
} from '../counters/charges.ts'
import { counterRows, holdRows } from '../counters/store.ts'
import type { Charge } from '../counters/charges.ts'
import { listBudgets } from './store.ts'
import { inputOf, valuesOf } from './tree.ts'
import { timeOf } from './windows.ts'
import { oldestWindow } from './samples.ts'

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
  /** The budget of each counter of one. */
  readonly units: ReadonlyMap<string, CountedBudget>
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
      const { entries, differences, budgets } = comparison
      const data = { entries, differences: [...differences, ...budgets].slice(0, RECORDED) }
      return {
        entries: [{ kind: 'spend.rebuilt', actor: SYSTEM, data }],
        reply: () => comparison,
      }
    }),
})

const INCOMPLETE =
  'The spend cannot be rebuilt: entries of the ledger were pruned or their payloads erased'

function comparisonOf(found: Recomputed): SpendComparison {
  const { entries, erased, pruned, differences, units } = found
  const usd = ({ used, held }: Amounts) => ({
    spent_usd: fromMicroUsd(used),
    held_usd: fromMicroUsd(held),
  })
  return {
    entries,
    erased,
    pruned,
    complete: erased === 0 && !pruned,
    differences: differences
      .filter(({ agent_id }) => !isOfBudget(agent_id))
      .map(({ stored, ledger, ...place }) => ({
        ...place,
        stored: usd(stored),
        ledger: usd(ledger),
      })),
    budgets: differences.flatMap(({ agent_id: subject, window, stored, ledger }) => {
      if (!isOfBudget(subject)) return []
      const owner = units.get(subject) ?? { budget: subject, unit: 'calls' }
      const { unit } = owner
      const amounts = ({ used, held }: Amounts) => ({
        used: fromUnits(unit, used),
        held: fromUnits(unit, held),
      })
      return [{ ...owner, window, stored: amounts(stored), ledger: amounts(ledger) }]
    }),
  }
}

async function recompute(db: AnyDatabase, orgId: string, now: string): Promise<Recomputed> {
  const budgets = await listBudgets(db, orgId)
  const fold = new SpendFold(orgId, new Map(budgets.map((row) => [row.uid, inputOf(row)])))
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
  const { holds, moves: all, removed } = fold.at(now)
  // Counters and charges of a removed budget are gone, whatever its holds still say.
  const counts = (move: Move): boolean => lasts(now)(move) && !removed.has(uidOf(move.subject))
  const moves = all.filter(counts)
  const stored = await storedMoves(db, orgId, now)
  return {
    entries,
    erased,
    pruned: await isPruned(db, orgId),
    holds,
    moves,
    units: fold.budgets,
    differences: differencesOf(stored.filter(counts), moves),
  }
}

/** Counters of past hours are deleted; only those decide that a window still has. */
const lasts = (now: string) => {
  const dayAgo = isoTime(Date.parse(now) - 24 * 3_600_000).slice(0, 13)
  const oldest = oldestWindow(Date.parse(now))
  return ({ subject, window }: Move): boolean => {
    if (!isOfBudget(subject)) return window.length < 13 || window === now.slice(0, 13)
    return window.length === 13 ? window >= dayAgo : window >= oldest
  }
}

const isOfBudget = (subject: string): boolean => subject.startsWith('*')
const uidOf = (subject: string): string => subject.split('/')[1] ?? ''

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
    .where((hold) =>
      hold.or([
        hold.and([hold('state', '=', 'held'), hold('expires_at', '<=', now)]),
        hold('charges_until', '<=', now),
      ]),
    )
    .execute()
  return [...stored, ...over.flatMap((hold) => ended(hold, now).moves)]
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
  'budget.removed',
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
  readonly #present: ReadonlyMap<string, BudgetInput>
  readonly #holds = new Map<string, SpendHoldRow>()
  readonly #moves: Move[] = []
  readonly #removed = new Set<string>()
  /** The windows in which counters of values moved. */
  readonly #known = new Map<string, Set<string>>()
  /** By counter. */
  readonly budgets = new Map<string, CountedBudget>()

  /** `present` are the budgets that exist, by their `uid`. */
  constructor(orgId: string, present: ReadonlyMap<string, BudgetInput>) {
    this.#orgId = orgId
    this.#present = present
  }

  /** Adds the next entry of the ledger. */
  add(entry: SpendEntry): void {
    const { kind, data } = entry
    if (kind === 'authorization.decided') this.#hold(entry)
    else if (kind === 'budget.removed')
      this.#removed.add((data as unknown as EntryData<'budget.removed'>).budget.uid)
    else this.#cost(entry)
  }

  /** The holds and moves at a time, without the parts of holds that have ended. */
  at(now: string): {
    readonly holds: SpendHoldRow[]
    readonly moves: Move[]
    readonly removed: ReadonlySet<string>
  } {
    const all = [...this.#holds.values()].map((hold) => ended(hold, now))
    return {
      holds: all.map(({ hold }) => hold),
      moves: [...this.#moves, ...all.flatMap(({ moves }) => moves)],
      removed: this.#removed,
    }
  }

  #hold({ recordedAt, agentId, decision, data }: SpendEntry): void {
    if (decision !== 'allow') return
    const { hold: usd, charges = [] } = data as Partial<EntryData<'authorization.decided'>>
    const all = charges.map((one): Charge => {
      const { uid, value, window, expires_at: until } = one
      const held = toUnits(one.unit, one.held)
      const subject = this.#counterOf(one)
      const isNew = held > 0 && this.#noteValue(one, subject, Date.parse(recordedAt))
      if (isNew) this.#moves.push({ subject: valuesOf(one), window, used: 1, held: 0 })
      this.#moves.push({ subject, window, used: 0, held })
      return {
        uid,
        ...(value !== undefined && { value }),
        window,
        held,
        ...(until !== null && { until }),
      }
    })
    const hold: SpendHoldRow = {
      org_id: this.#orgId,
      decision_id: String(data['decision_id']),
      agent_id: agentId ?? '',
      day: recordedAt.slice(0, 10),
      hour: recordedAt.slice(0, 13),
      held_micro: toMicroUsd(usd?.usd ?? 0),
      state: 'held',
      expires_at: usd?.expires_at ?? null,
      ...withCharges(all),
    }
    this.#holds.set(hold.decision_id, hold)
    this.#moves.push(...holdMoves(hold, 0, hold.held_micro))
  }

  /** Notes that a charge moves the counter of its value. Returns true for the first time in the window. */
  #noteValue(
    charge: Pick<Charge, 'uid' | 'value' | 'window'>,
    subject: string,
    at: number,
  ): boolean {
    const budget = this.#present.get(charge.uid)
    if (charge.value == null || !budget) return false
    const known = this.#known.get(subject) ?? new Set<string>()
    this.#known.set(subject, known)
    const isNew = !timeOf(budget, at).parts.some(({ id }) => known.has(id))
    known.add(charge.window)
    return isNew
  }

  /** The counter of a charge. */
  #counterOf(charge: CountedBudget & { readonly uid: string }): string {
    const { budget, uid, value, unit } = charge
    const subject = subjectOf(uid, value)
    this.budgets.set(subject, { budget, ...(value !== undefined && { value }), unit })
    return subject
  }

  #cost({ recordedAt, agentId, actorId, data }: SpendEntry): void {
    const {
      cost_usd: cost,
      decision_id: decisionId,
      charges = [],
    } = data as Partial<EntryData<'entry.appended'>>
    for (const charge of charges) {
      const used = toUnits(charge.unit, charge.used)
      const { window } = charge
      const subject = this.#counterOf(charge)
      this.#moves.push({ subject, window, used, held: 0 })
      this.#noteValue(charge, subject, Date.parse(recordedAt))
    }
    if (typeof cost !== 'number') return
    const hold = typeof decisionId === 'string' ? this.#holds.get(decisionId) : undefined
    if (hold) {
      this.#moves.push(...settleHold(hold, cost, recordedAt))
      for (const { uid, value, window, held } of chargesOf(hold))
        this.#moves.push({ subject: subjectOf(uid, value), window, used: 0, held: -held })
      const settled = { ...hold, state: 'settled' as const, ...withCharges([]) }
      this.#holds.set(hold.decision_id, settled)
    } else this.#moves.push(...agentMoves(agentId ?? actorId, recordedAt, toMicroUsd(cost), 0))
  }
}

/** A budget as charges name it. */
interface CountedBudget {
  readonly budget: string
  readonly value?: string | null | undefined
  readonly unit: string
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
