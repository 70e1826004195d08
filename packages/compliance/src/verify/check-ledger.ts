import type { Database } from '@remit/core/db/open'
import type { LedgerEntryRow } from '@remit/core/db'
import { verifyDatabase } from '@remit/core/ledger/records'
import type { RecordedReport } from '../facts/index.ts'
import type { Tables } from '../tables/schema.ts'
import type { LedgerCheck, VerifyOptions } from '../jobs/jobs.ts'
import type { VerificationTrust } from '../jobs/trust.ts'
import { RecordedReports } from './recorded-reports.ts'

export interface CheckHooks {
  readonly onEntry?: (row: LedgerEntryRow) => void
  readonly onProgress?: (done: number, total: number) => void
}

/** Verifies a ledger and the reports about it, in one pass over the entries. */
export async function checkLedger(
  db: Database<Tables>,
  orgId: string,
  { fromSeq, toSeq, checkpoints = [] }: VerifyOptions,
  { vkeys, anchors, unwitnessed = [], unread, none = false }: VerificationTrust,
  { onEntry, onProgress }: CheckHooks,
): Promise<{ check: LedgerCheck; recorded: RecordedReport[] }> {
  const started = performance.now()
  const stored = await RecordedReports.of(db, orgId)
  const report = await verifyDatabase(db, orgId, {
    vkeys,
    checkpoints: [...anchors, ...checkpoints],
    unwitnessed: new Set(unwitnessed),
    ...(fromSeq !== undefined && { from_seq: fromSeq }),
    ...(toSeq !== undefined && { to_seq: toSeq }),
    ...(onProgress && { onProgress }),
    onEntry(row) {
      stored.entry(row)
      onEntry?.(row)
    },
  })
  const { from_seq: from } = report.checked
  const { check: reports, recorded } = await stored.end({ from, to: toSeq ?? Infinity })
  const durationMs = Math.round(performance.now() - started)
  const gone = none && (await isWatched(db, orgId)) ? [GONE] : []
  const ledger = { ...report, not_checked: [...report.not_checked, ...unread, ...gone] }
  return { check: { ledger, reports, anchors: anchors.length, durationMs }, recorded }
}

const GONE =
  'The checkpoints in REMIT_CHECKPOINT_DIR: the folder has none for this ledger, although a server has monitored it.'

/**
 * Returns whether a server has watched the ledger; an unwatched one has no checkpoints in a folder
 * yet.
 */
async function isWatched(db: Database<Tables>, orgId: string): Promise<boolean> {
  const row = await db
    .selectFrom('ledger_watch')
    .select('org_id')
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return row !== undefined
}
