import { LEAST_RETENTION_DAYS } from '@remit/contract'
import { isoTime } from '../../base/clock.ts'
import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerCutRow } from '../../db/schema.ts'
import { fail } from '../../base/errors.ts'
import { findCut, ownEntries, pointAt } from '../../ledger/store/cut.ts'
import type { LedgerPoint } from '../../ledger/store/cut.ts'
import { parsePayload } from '../../ledger/format/entry.ts'
import { seqAtTime } from '../../ledger/store/list.ts'
import { missingHead } from '../../ledger/write/head-guard.ts'
import { findHead } from '../../ledger/store/store.ts'
import { findOrganizationById } from '../administration.ts'
import { shortRetentionWarning } from '../retention.ts'
import { settingsOf } from '../settings.ts'

type Db = Database<CoreTables>

const DAY_MS = 24 * 60 * 60 * 1000

/** What may go: entries that were recorded before a time (milliseconds), or older than some days. */
export type PruneUpTo = { readonly before: number } | { readonly keepDays: number }

export interface PruneQuestion {
  readonly upTo: PruneUpTo
  /** Whoever asks knows that less than 183 days may break a law; the entry says so. */
  readonly acknowledgeShortRetention: boolean
}

/** What a pruning would do. */
export interface PrunePlan {
  readonly org_id: string
  /** The first entry that would go, and the first one that would stay. */
  readonly from_seq: number
  readonly cut: number
  /** Every entry that would go was recorded before. */
  readonly cutoff: string
  readonly retention_days: number
  readonly short: boolean
  readonly warnings: readonly string[]
  /** The state at the cut, and where the ledger begins now. */
  readonly point: LedgerPoint & { readonly vkey: string }
  readonly now: LedgerCutRow | undefined
  /** Entries when it was planned. */
  readonly size: number
}

/**
 * Where a ledger may be cut: at the largest kept checkpoint below all entries that must stay. Null where
 * there is none, so that nothing can go. Throws `invalid_request` for entries that must be kept.
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
      `Entries are kept for ${retentionDays} days, as the setting retention_days says: only those from before ${end} may be pruned`,
    )
  }
  if (isShort) {
    const days = Math.floor((now - before) / DAY_MS)
    throw fail(
      'invalid_request',
      `${shortRetentionWarning(days)} Pruning them needs --acknowledge-short-retention`,
    )
  }
}

/**
 * The largest kept checkpoint up to a size. Not one that ends with a rotation: there two keys sign, and
 * a cut has one. Nor one that takes the record of a loss with it, while checkpoints of what was lost are
 * still compared: they would seem to be of a ledger that was changed.
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

/** The records of what restores from backups lost: where they stand, and the last entry that went. */
async function lossesOf(db: Db, orgId: string): Promise<{ seq: number; to_seq: number }[]> {
  const records = await ownEntries(db, orgId, 'ledger.recovered', { last: MAX_LOSSES })
  return records.flatMap(({ seq, payload }) => {
    const { to_seq } = (parsePayload(payload ?? '')?.data['lost'] ?? {}) as { to_seq?: unknown }
    return typeof to_seq === 'number' ? [{ seq, to_seq }] : []
  })
}
