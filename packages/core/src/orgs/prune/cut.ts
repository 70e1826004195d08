import type { CoreTables } from '../../db/schema.ts'
import type { Database } from '../../db/open.ts'
import { fail } from '../../base/errors.ts'
import { SYSTEM } from '../../caller/caller.ts'
import { findCut, ownEntries } from '../../ledger/store/cut.ts'
import type { EntryData } from '../../ledger/format/draft.ts'
import { parsePayload } from '../../ledger/format/entry.ts'
import { ledgerIdOf } from '../../ledger/read/export-entries.ts'
import { findHead } from '../../ledger/store/store.ts'
import { hasErasureSince } from '../../ledger/store/pages.ts'
import { firstOf } from '../../ledger/write/work.ts'
import type { WriteContext } from '../../ledger/write/work.ts'
import type { Writer } from '../../ledger/write/writer.ts'
import { OPERATOR } from '../administration.ts'
import { rootOfPlan } from './check.ts'
import type { PrunePlan } from './plan.ts'

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
    const { hash, recorded_at, frontier, vkey } = point
    const row = { size: cut, hash, recorded_at, frontier, vkey }
    const data = await recordOf(scope, plan, facts)
    await scope.tx
      .insertInto('ledger_cut')
      .values({ org_id, ...row })
      .onConflict((conflict) => conflict.column('org_id').doUpdateSet(row))
      .execute()
    return {
      entries: [{ kind: 'ledger.pruned', actor: SYSTEM, data }],
      reply: (recorded) => firstOf(recorded).row.seq,
    }
  })
}

async function checkUnchanged({ tx, orgId }: WriteContext, plan: PrunePlan): Promise<void> {
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
  { tx, orgId, recordedAt }: WriteContext,
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
async function earlierOf(
  db: Database<CoreTables>,
  orgId: string,
): Promise<EntryData<'ledger.pruned'>['earlier']> {
  const [last] = await ownEntries(db, orgId, 'ledger.pruned', { last: 1 })
  if (!last) return []
  const { cut, cutoff, pruned_at, earlier } = parsePayload(last.payload ?? '')?.data ?? {}
  const older = Array.isArray(earlier) ? (earlier as EntryData<'ledger.pruned'>['earlier']) : []
  return [...older, { seq: last.seq, cut, cutoff, pruned_at }].slice(-KEPT_RECORDS)
}
