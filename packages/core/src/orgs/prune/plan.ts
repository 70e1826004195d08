import { createHash } from 'node:crypto'
import { LEAST_RETENTION_DAYS } from '@remit/contract'
import { readData } from '@remit/contract/entries'
import { isoTime } from '../../base/clock.ts'
import type { Db } from '../../db/open.ts'
import type { LedgerCutRow } from '../../db/schema.ts'
import { fail } from '../../base/errors.ts'
import type { Failure } from '../../base/errors.ts'
import { findCut, ownEntries, pointAt } from '../../ledger/store/cut.ts'
import type { LedgerPoint } from '../../ledger/store/cut.ts'
import { parsePayload } from '../../ledger/format/entry.ts'
import { seqAtTime } from '../../ledger/store/list.ts'
import { missingHead } from '../../ledger/write/head-guard.ts'
import { findHead } from '../../ledger/store/store.ts'
import { findOrganizationById } from '../administration.ts'
import { shortRetentionWarning } from '../organizations.ts'
import { settingsOf } from '../settings.ts'
import { exportLines } from '../../ledger/read/export-entries.ts'
import { verifyExport } from '../../ledger/verify/export.ts'
import { decodeFrontier, rootOf } from '../../ledger/format/merkle.ts'
import { verifyDatabase } from '../../ledger/verify/database.ts'
import type { VerifyReport } from '../../ledger/verify/database-report.ts'
import type { ChainReport } from '../../ledger/verify/report.ts'
import type { Archive } from './carry.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** The entries to prune: those recorded before a time (milliseconds), or older than some days. */
export type PruneUpTo = { readonly before: number } | { readonly keepDays: number }

export interface PruneQuestion {
  readonly upTo: PruneUpTo
  /** Confirms a retention below 183 days; recorded in the entry. */
  readonly acknowledgeShortRetention: boolean
}

export interface PrunePlan {
  readonly org_id: string
  /** The first entry to remove, and the first one to keep. */
  readonly from_seq: number
  readonly cut: number
  /** Every entry to remove was recorded before this time. */
  readonly cutoff: string
  readonly retention_days: number
  readonly short: boolean
  readonly warnings: readonly string[]
  /** The state at the cut, and the current start of the ledger. */
  readonly point: LedgerPoint & { readonly vkey: string }
  readonly now: LedgerCutRow | undefined
  /** Number of entries at the time of the plan. */
  readonly size: number
}

/**
 * Returns the position of a cut: the largest stored checkpoint below all entries to keep. Null if
 * there is none, so nothing can be pruned. Throws `invalid_request` for entries within the
 * retention.
 */
export async function planPruning(
  db: Db,
  orgId: string,
  { upTo, acknowledgeShortRetention }: PruneQuestion,
  nowMs: number,
): Promise<PrunePlan | null> {
  const { retention_days } = settingsOf(await findOrganizationById(db, orgId))
  const before = 'before' in upTo ? upTo.before : nowMs - upTo.keepDays * DAY_MS
  const short = before > nowMs - LEAST_RETENTION_DAYS * DAY_MS
  checkAge(before, nowMs, retention_days, short && !acknowledgeShortRetention)
  const head = await findHead(db, orgId)
  if (!head) throw missingHead()
  const now = await findCut(db, orgId)
  const cutoff = isoTime(before)
  const from_seq = now?.size ?? 0
  const wanted = await seqAtTime(db, orgId, { from: from_seq, to: head.size }, cutoff)
  const found = await findPlace(db, orgId, now, wanted)
  if (!found) return null
  const days = Math.floor((nowMs - before) / DAY_MS)
  const warnings = short ? [shortRetentionWarning(days)] : []
  const { cut, point } = found
  const plan = { org_id: orgId, from_seq, cut, cutoff, retention_days, short, warnings }
  return { ...plan, point, now, size: head.size }
}

function checkAge(before: number, now: number, retentionDays: number, isShort: boolean): void {
  if (before > now - retentionDays * DAY_MS) {
    const end = isoTime(now - retentionDays * DAY_MS)
    throw fail(
      'invalid_request',
      `The setting retention_days keeps entries for ${retentionDays} days: only entries before ${end} can be pruned`,
    )
  }
  if (isShort) {
    const days = Math.floor((now - before) / DAY_MS)
    throw fail(
      'invalid_request',
      `${shortRetentionWarning(days)} Pruning requires --acknowledge-short-retention`,
    )
  }
}

/**
 * Returns the largest stored checkpoint up to a size. Not one that ends with a rotation, because
 * two keys sign it and a cut has one. Not one above the record of a loss while checkpoints of the
 * lost entries are still compared, because they would look like tampering.
 */
async function findPlace(
  db: Db,
  orgId: string,
  now: LedgerCutRow | undefined,
  wanted: number,
): Promise<{ cut: number; point: PrunePlan['point'] } | null> {
  const losses = await lossesOf(db, orgId)
  let below = wanted + 1
  for (;;) {
    const kept = await db
      .selectFrom('ledger_checkpoint')
      .select('size')
      .where('org_id', '=', orgId)
      .where('size', '>', now?.size ?? 0)
      .where('size', '<', below)
      .orderBy('size', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (!kept) return null
    const loss = losses.find(({ seq, to_seq }) => seq < kept.size && kept.size <= to_seq + 1)
    if (loss) {
      below = loss.seq + 1
      continue
    }
    const point = await pointAt(db, orgId, kept.size, now)
    if (point.vkey !== null) return { cut: kept.size, point: { ...point, vkey: point.vkey } }
    below = kept.size
  }
}

const MAX_LOSSES = 100

/** Returns the records of losses in restores: their positions, and the last lost entry. */
async function lossesOf(db: Db, orgId: string): Promise<{ seq: number; to_seq: number }[]> {
  const records = await ownEntries(db, orgId, 'ledger.recovered', { last: MAX_LOSSES })
  return records.flatMap(({ seq, payload }) => {
    const { lost } = readData('ledger.recovered', parsePayload(payload ?? '')?.data)
    return lost && lost.to_seq !== null ? [{ seq, to_seq: lost.to_seq }] : []
  })
}

/** Returns the Merkle root of the entries to prune. */
export const rootOfPlan = ({ cut, point }: PrunePlan): string =>
  rootOf(decodeFrontier(cut, point.frontier).nodes)

/**
 * Verifies the archive as an auditor would: the written bytes, valid from the first to the last
 * pruned entry, up to the signed root. Returns the number of erased payloads.
 */
export async function checkArchive(
  archive: Archive,
  sha256: string,
  plan: PrunePlan,
): Promise<number> {
  const read = createHash('sha256')
  const lines = exportLines(hashed(archive.read(), read))
  const report = await verifyExport(lines, { vkey: plan.point.vkey, deep: true })
  if (read.digest('hex') !== sha256) {
    throw fail('internal_error', 'The export differs from the data that was written')
  }
  const { from_seq, to_seq } = report.checked
  const isWhole = from_seq === plan.from_seq && to_seq === plan.cut - 1
  if (report.status !== 'ok' || !isWhole || report.root !== rootOfPlan(plan)) {
    throw unsound('the export', report)
  }
  return report.redacted + report.unexplained
}

async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  into: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    into.update(chunk)
    yield chunk
  }
}

/** Verifies the whole ledger, so that a pruning cannot hide a manipulation. */
export async function checkLedger(
  db: Db,
  orgId: string,
  vkey: string,
  onProgress: (done: number) => void,
): Promise<void> {
  const report = await verifyDatabase(db, orgId, { vkeys: [vkey], onProgress })
  if (report.status !== 'ok') throw unsound('the ledger', report)
}

function unsound(
  what: string,
  { status, first_invalid: first }: ChainReport | VerifyReport,
): Failure {
  const where = first === null ? '' : `, first at seq ${first.seq}: ${first.code}`
  return fail(
    'invalid_request',
    `Verification of ${what} failed (${status}${where}); nothing was pruned`,
  )
}
