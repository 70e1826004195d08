import { fromMicroUsd } from '@remit/contract/values'
import { fail, isoTime } from '@remit/core/base'
import { SYSTEM } from '@remit/core/caller'
import { on, writeRows } from '@remit/core/db'
import type { AnyDatabase, CoreTables } from '@remit/core/db'
import { parsePayload } from '@remit/core/ledger/proofs'
import type { Deps, SpendAccounts, SpendComparison } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import type { SpendHoldRow, SpendTotalRow, Tables } from '../tables/schema.ts'
import { differencesOf, released, SpendFold, SPENDING } from './fold.ts'
import type { TotalDifference } from './fold.ts'
import { holdRows, totalRows } from './totals-store.ts'

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
