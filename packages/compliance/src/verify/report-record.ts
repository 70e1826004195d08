import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { LedgerEntryRow } from '@remit/core/db'
import type { Actor, Framework, ReportSummary } from '@remit/contract'
import { isRecord } from '@remit/contract/entries'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import { catalogue } from '../catalogue/catalogue.ts'
import type { ReportScope } from '../catalogue/report-scope.ts'
import { parsePayload } from '../facts/entry.ts'
import type { ReportFacts } from '../jobs/jobs.ts'
import type { ReportHead, ReportRow } from '../tables/reports.ts'

/** The last entry of a ledger at some time. */
export interface RecordedHead {
  readonly seq: number
  readonly hash: string
}

/** The content of an entry `report.generated`. */
export interface ReportRecord {
  readonly seq: number
  readonly recordedAt: string
  /** The same in milliseconds. */
  readonly time: number
  readonly reportId: string
  /** The end of the ledger for the report; null if the entry lacks it. */
  readonly end: RecordedHead | null
  /** The requester. */
  readonly actor: unknown
  readonly said: Readonly<Record<string, unknown>>
}

/** Parses an entry; null for one without a report, or an erased one. */
export function readRecord(
  row: Pick<LedgerEntryRow, 'seq' | 'recorded_at' | 'payload'>,
): ReportRecord | null {
  const content = parsePayload(row.payload)
  const data = content?.['data']
  if (!isRecord(data)) return null
  const reportId = data['report_id']
  if (typeof reportId !== 'string') return null
  const last = (data['checkpoint'] ?? {}) as { seq?: unknown; hash?: unknown }
  const end =
    Number.isSafeInteger(last.seq) && typeof last.hash === 'string'
      ? { seq: Number(last.seq), hash: last.hash }
      : null
  return {
    seq: row.seq,
    recordedAt: row.recorded_at,
    time: Date.parse(row.recorded_at),
    reportId,
    end,
    actor: content?.['actor'],
    said: data,
  }
}

/**
 * The data of the entry `report.generated`, from the columns of a report: everything that is served
 * beside the hashed documents. Verification computes it again from the stored row, so a served
 * column must be here. Throws for an unreadable column.
 */
function recordedFields(row: ReportHead) {
  const { categories, role } = JSON.parse(row.scope) as ReportScope
  const head = JSON.parse(row.head ?? 'null') as ReportFacts['head']
  return {
    report_id: row.id,
    framework: row.framework as Framework,
    from: row.period_from,
    to: row.period_to,
    categories,
    role,
    requested_at: row.requested_at,
    evaluation: row.evaluation === 1,
    content_sha256: row.content_sha256 as string,
    csv_sha256: row.csv_sha256 as string,
    // The end of the ledger as the report found it: a later truncation contradicts this entry.
    checkpoint: { seq: head.size - 1, hash: head.hash },
    ledger_head: head,
    summary: JSON.parse(row.summary ?? 'null') as ReportSummary,
    verified: row.verified === null ? null : row.verified === 1,
  }
}

/** The entry that records a finished report. */
export const generatedEntry = (row: ReportHead): EntryDraft => ({
  kind: 'report.generated',
  actor: JSON.parse(row.requested_by) as Actor,
  data: {
    ...recordedFields(row),
    catalog_sha256: catalogue(row.framework as Framework).sha256,
    ...(row.requested_person !== null && { person: row.requested_person }),
  },
})

/** Required data of an entry; older entries lack other members. */
const ALWAYS: ReadonlySet<string> = new Set([
  'framework',
  'from',
  'to',
  'content_sha256',
  'csv_sha256',
])

/** The fault of a stored report compared with its entry; null if none. */
export function faultOf(
  record: ReportRecord,
  row: ReportRow | undefined,
): 'report_missing' | 'report_changed' | null {
  if (!row || row.status !== 'ready' || row.content === null || row.csv === null)
    return 'report_missing'
  const isSame =
    isWhatIsHashed(row.content, row.content_sha256) &&
    isWhatIsHashed(row.csv, row.csv_sha256) &&
    isAsRecorded(record, row)
  return isSame ? null : 'report_changed'
}

/** SQLite also stores bytes in a text column, and those are never served. */
const isWhatIsHashed = (text: unknown, sha256: string | null): boolean =>
  typeof text === 'string' && hash('sha256', text, 'hex') === sha256

/** Returns whether the columns match the members of the entry. */
function isAsRecorded({ seq, recordedAt, actor, said }: ReportRecord, row: ReportRow): boolean {
  try {
    return (
      row.record_seq === seq &&
      row.generated_at === recordedAt &&
      row.requested_person === (said['person'] ?? null) &&
      isDeepStrictEqual(JSON.parse(row.requested_by), actor) &&
      Object.entries(recordedFields(row)).every(
        ([name, value]) =>
          isDeepStrictEqual(value, said[name]) || (!(name in said) && !ALWAYS.has(name)),
      )
    )
  } catch {
    // The server did not write an unreadable column.
    return false
  }
}
