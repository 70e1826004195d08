import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { saidOf } from './generated-entry.ts'
import type { ReportRow } from '../tables/reports.ts'
import type { ReportRecord } from './report-record.ts'

/** Without these an entry vouches for nothing. Of the others, older entries have fewer. */
const ALWAYS: ReadonlySet<string> = new Set([
  'framework',
  'from',
  'to',
  'content_sha256',
  'csv_sha256',
])

/** What is wrong with a stored report by the entry that records it; null for nothing. */
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

/** SQLite keeps bytes in a column for text too, and those are never served. */
const isWhatIsHashed = (text: unknown, sha256: string | null): boolean =>
  typeof text === 'string' && hash('sha256', text, 'hex') === sha256

/** Whether the columns say what the entry says, as far as it says anything. */
function isAsRecorded({ seq, recordedAt, actor, said }: ReportRecord, row: ReportRow): boolean {
  try {
    return (
      row.record_seq === seq &&
      row.generated_at === recordedAt &&
      row.requested_person === (said['person'] ?? null) &&
      isDeepStrictEqual(JSON.parse(row.requested_by), actor) &&
      Object.entries(saidOf(row)).every(
        ([name, value]) =>
          isDeepStrictEqual(value, said[name]) || (!(name in said) && !ALWAYS.has(name)),
      )
    )
  } catch {
    // A column that cannot be read was written by somebody else.
    return false
  }
}
