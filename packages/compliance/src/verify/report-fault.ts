import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { recordedFields } from './generated-entry.ts'
import type { ReportRow } from '../tables/reports.ts'
import type { ReportRecord } from './report-record.ts'

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
