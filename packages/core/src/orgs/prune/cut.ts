import { setImmediate } from 'node:timers/promises'
import { readData } from '@remit/contract/entries'
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import type { LedgerCutRow } from '../../db/schema.ts'
import { fail } from '../../base/errors.ts'
import { SYSTEM } from '../../caller/caller.ts'
import { findCut, ownEntries } from '../../ledger/store/cut.ts'
import type { EntryData } from '../../ledger/format/draft.ts'
import { parsePayload } from '../../ledger/format/entry.ts'
import { ledgerIdOf } from '../../ledger/read/export-entries.ts'
import { findHead } from '../../ledger/store/store.ts'
import { hasErasureSince } from '../../ledger/store/list.ts'
import { firstOf } from '../../ledger/write/work.ts'
import type { LedgerScope } from '../../ledger/write/work.ts'
import type { Writer } from '../../ledger/write/writer.ts'
import { OPERATOR } from '../administration.ts'
import { rootOfPlan } from './plan.ts'
import type { PrunePlan } from './plan.ts'
import { TILE_WIDTH } from '../../ledger/format/merkle.ts'

/** Facts in the record of a pruning, in addition to the plan. */
export interface CutFacts {
  readonly export_sha256: string
  readonly redacted: number
  readonly carried: number
  readonly reason: string
  readonly person?: string | undefined
}

/**
 * Makes the cut in one transaction: the new start of the ledger and the entry `ledger.pruned` that
 * records it. From then on, entries below it are not read. Throws without effects if the ledger was
 * pruned or a payload was erased since the export, because the export would contain erased data.
 */
export function cutLedger(writer: Writer, plan: PrunePlan, facts: CutFacts): Promise<number> {
  const { org_id, cut, point } = plan
  return writer.work(org_id, OPERATOR, async (scope) => {
    await checkUnchanged(scope, plan)
    const data = await recordOf(scope, plan, facts)
    await setCut(scope.tx, org_id, { ...point, size: cut })
    return {
      entries: [{ kind: 'ledger.pruned', actor: SYSTEM, data }],
      reply: (recorded) => firstOf(recorded).row.seq,
    }
  })
}

/** Sets the start of a ledger: the entries below it can be removed. */
export async function setCut(
  db: Db,
  orgId: string,
  { size, hash, recorded_at, frontier, vkey }: Omit<LedgerCutRow, 'org_id'>,
): Promise<void> {
  const cut = { size, hash, recorded_at, frontier, vkey }
  await db
    .insertInto('ledger_cut')
    .values({ org_id: orgId, ...cut })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet(cut))
    .execute()
}

async function checkUnchanged({ tx, orgId }: LedgerScope, plan: PrunePlan): Promise<void> {
  const isPruned = (await findCut(tx, orgId))?.size !== plan.now?.size
  if (!isPruned && !(await hasErasureSince(tx, orgId, plan.size))) return
  const what = isPruned ? 'The ledger was pruned' : 'Entries were erased'
  throw fail(
    'invalid_request',
    `${what} during this pruning: delete the export that was just written, and prune again`,
  )
}

/** Returns `data` of the entry, as in docs/ledger-format.md section 9. */
async function recordOf(
  { tx, orgId, recordedAt }: LedgerScope,
  plan: PrunePlan,
  facts: CutFacts,
): Promise<EntryData<'ledger.pruned'>> {
  const { from_seq, cut, cutoff, retention_days, short, point, now } = plan
  const head = await findHead(tx, orgId)
  const { export_sha256, redacted, carried, reason, person } = facts
  return {
    cut,
    hash: point.hash,
    recorded_at: point.recorded_at,
    root: rootOfPlan(plan),
    vkey: point.vkey,
    origin: head?.origin ?? '',
    ledger_id: await ledgerIdOf(tx, orgId, now),
    from_seq,
    entries: cut - from_seq,
    cutoff,
    pruned_at: recordedAt,
    retention_days,
    short,
    export_sha256,
    redacted,
    carried,
    earlier: await earlierOf(tx, orgId),
    reason,
    ...(person !== undefined && { person }),
  }
}

const KEPT_RECORDS = 1_000

/** Returns the last record and the ones that it names, as it may be pruned later. */
async function earlierOf(db: Db, orgId: string): Promise<EntryData<'ledger.pruned'>['earlier']> {
  const [last] = await ownEntries(db, orgId, 'ledger.pruned', { last: 1 })
  if (!last) return []
  const record = readData('ledger.pruned', parsePayload(last.payload ?? '')?.data)
  const { cut, cutoff, pruned_at, earlier } = record
  return [...(earlier ?? []), { seq: last.seq, cut, cutoff, pruned_at }].slice(-KEPT_RECORDS)
}

/** Maximum rows per statement: servers write in between. */
const STEP = 2_000

/**
 * Removes the rows below the cut of a ledger: entries, checkpoints, and inner nodes. Each step is
 * independent, so it can be interrupted and continued. Returns the number of removed entries.
 */
export async function removePruned(
  db: Db,
  orgId: string,
  onProgress: (done: number) => void = () => undefined,
): Promise<number> {
  const { size = 0 } = (await findCut(db, orgId)) ?? {}
  let removed = 0
  const entries = { table: 'ledger_entry', column: 'seq', below: size } as const
  for await (const count of steps(db, orgId, entries)) onProgress((removed += count))
  const checkpoints = { table: 'ledger_checkpoint', column: 'size', below: size } as const
  for await (const _ of steps(db, orgId, checkpoints));
  for (let level = 1; TILE_WIDTH ** level <= size; level++) {
    const below = Math.floor(size / TILE_WIDTH ** level)
    for await (const _ of steps(db, orgId, { table: 'ledger_node', column: 'idx', below, level }));
  }
  return removed
}

interface Range {
  readonly table: 'ledger_entry' | 'ledger_checkpoint' | 'ledger_node'
  readonly column: 'seq' | 'size' | 'idx'
  readonly below: number
  readonly level?: number
}

/** Deletes the rows below a key, lowest first; yields the number of each step. */
async function* steps(
  db: Db,
  orgId: string,
  { table, column, below, level }: Range,
): AsyncGenerator<number> {
  const key = sql.ref(column)
  const mine =
    level === undefined ? sql`org_id = ${orgId}` : sql`org_id = ${orgId} and level = ${level}`
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ${mine} and ${key} in (
        select ${key} from ${sql.table(table)} where ${mine} and ${key} < ${below}
        order by ${key} limit ${STEP})`.execute(db)
    if (numAffectedRows > 0n) yield Number(numAffectedRows)
    if (numAffectedRows < STEP) return
    // SQLite returns without yielding to the event loop.
    await setImmediate()
  }
}
