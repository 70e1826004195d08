import type { Database } from '@remit/core/db/open'
import { on } from '@remit/core/db'
import type { LedgerEntryRow, AnyDatabase } from '@remit/core/db'
import { verifyDatabase, FirstErrors } from '@remit/core/ledger/records'
import type { RecordedReport } from '../facts/index.ts'
import type { Tables } from '../tables/schema.ts'
import type {
  LedgerCheck,
  VerifyOptions,
  StoredReportError,
  StoredReportErrorCode,
  ReportsCheck,
  VerificationTrust,
} from '../jobs/jobs.ts'
import type { ReportRow } from '../tables/reports.ts'
import { faultOf, readRecord } from './report-record.ts'
import type { RecordedHead, ReportRecord } from './report-record.ts'

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

const KIND = 'report.generated'
const PAGE = 20

/** The verified part of the ledger, from the first to the last sequence number. */
interface SeqSpan {
  readonly from: number
  readonly to: number
}

/** A stored report, and the end of the ledger when it was generated. */
interface Stored extends Pick<ReportRow, 'id' | 'record_seq'> {
  readonly end: RecordedHead | null
}

/**
 * Compares stored reports with their entries. The stored ones are listed before the ledger is read,
 * so a report generated meanwhile is in neither list.
 */
class RecordedReports {
  readonly #db: AnyDatabase
  readonly #orgId: string
  readonly #stored: readonly Stored[]
  readonly #records: ReportRecord[] = []
  /** Erased entries about reports. */
  readonly #erased = new Set<number>()
  readonly #errors = new FirstErrors<StoredReportError>()
  readonly #mismatched = new Set<string>()

  private constructor(db: AnyDatabase, orgId: string, stored: readonly Stored[]) {
    this.#db = db
    this.#orgId = orgId
    this.#stored = stored
  }

  static async of(db: AnyDatabase, orgId: string): Promise<RecordedReports> {
    const rows = await on<Tables>(db)
      .selectFrom('compliance_report')
      .select(['id', 'record_seq', 'head'])
      .where('org_id', '=', orgId)
      .where('status', '=', 'ready')
      .orderBy('id')
      .execute()
    const stored = rows.map(({ id, record_seq, head }) => ({ id, record_seq, end: endIn(head) }))
    return new RecordedReports(db, orgId, stored)
  }

  /** Adds the next entry of the ledger. */
  entry(row: LedgerEntryRow): void {
    if (row.kind !== KIND) return
    const record = readRecord(row)
    if (record === null) this.#erased.add(row.seq)
    else this.#records.push(record)
  }

  /** Compares both after the ledger was read. */
  async end(span: SeqSpan): Promise<{ check: ReportsCheck; recorded: RecordedReport[] }> {
    const broken = new Set<string>()
    for (let at = 0; at < this.#records.length; at += PAGE) {
      const records = this.#records.slice(at, at + PAGE)
      const rows = await this.#read(records.map(({ reportId }) => reportId))
      for (const record of records) {
        const fault = faultOf(record, rows.get(record.reportId))
        if (fault === null) continue
        broken.add(record.reportId)
        this.#add(record.seq, fault, record.reportId)
      }
    }
    this.#findUnrecorded(span)
    await this.#compareEnds(span)
    const checked = new Set(this.#records.map(({ reportId }) => reportId))
    for (const { id, record_seq } of this.#stored) if (isIn(record_seq, span)) checked.add(id)
    const check = {
      checked: checked.size,
      mismatched: this.#mismatched.size,
      errors: this.#errors.list,
      first_errors: this.#errors.ofEachCode,
      error_count: this.#errors.count,
    }
    const recorded = this.#records.map(({ seq, time, reportId }) => ({
      seq,
      time,
      reportId,
      intact: !broken.has(reportId),
    }))
    return { check, recorded }
  }

  #findUnrecorded(span: SeqSpan): void {
    const bySeq = new Map(this.#records.map(({ seq, reportId }) => [seq, reportId]))
    for (const { id, record_seq: seq } of this.#stored) {
      if (!isIn(seq, span) || this.#erased.has(seq) || bySeq.get(seq) === id) continue
      this.#add(seq, 'report_unrecorded', id)
    }
  }

  /** The ledger ends that reports name must exist with the same hash. */
  async #compareEnds(span: SeqSpan): Promise<void> {
    const kept = [
      ...this.#records.map(({ reportId, end }) => ({ id: reportId, end })),
      ...this.#stored,
    ].flatMap(({ id, end }) => (end !== null && isIn(end.seq, span) ? [{ id, ...end }] : []))
    const seqs = [...new Set(kept.map(({ seq }) => seq))]
    const hashes = new Map<number, string>()
    for (let at = 0; at < seqs.length; at += 500) {
      const rows = await on<Tables>(this.#db)
        .selectFrom('ledger_entry')
        .select(['seq', 'hash'])
        .where('org_id', '=', this.#orgId)
        .where('seq', 'in', seqs.slice(at, at + 500))
        .execute()
      for (const { seq, hash: found } of rows) hashes.set(seq, found)
    }
    const wrong = new Set<string>()
    for (const { id, seq, hash: wanted } of kept) {
      if (hashes.get(seq) === wanted || wrong.has(id)) continue
      wrong.add(id)
      this.#add(seq, 'report_checkpoint', id)
    }
  }

  async #read(ids: readonly string[]): Promise<Map<string, ReportRow>> {
    const rows = await on<Tables>(this.#db)
      .selectFrom('compliance_report')
      .selectAll()
      .where('org_id', '=', this.#orgId)
      .where('id', 'in', ids)
      .execute()
    return new Map(rows.map((row) => [row.id, row]))
  }

  #add(seq: number, code: StoredReportErrorCode, reportId: string): void {
    this.#mismatched.add(reportId)
    this.#errors.add({ seq, code, reportId })
  }
}

const isIn = (seq: number | null, { from, to }: SeqSpan): seq is number =>
  seq !== null && seq >= from && seq <= to

/** The end in the row's own copy of the head; null if it has none. */
function endIn(text: string | null): RecordedHead | null {
  try {
    const { size, hash: at } = JSON.parse(text ?? 'null') as { size?: unknown; hash?: unknown }
    return Number.isSafeInteger(size) && typeof at === 'string'
      ? { seq: Number(size) - 1, hash: at }
      : null
  } catch {
    return null
  }
}
