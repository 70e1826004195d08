import type { LedgerEntryRow } from '@remit/core/db'

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
  const content = objectIn(row.payload ?? '')
  const data = asObject(content?.['data'])
  const reportId = data?.['report_id']
  if (!data || typeof reportId !== 'string') return null
  const { seq, hash } = (data['checkpoint'] ?? {}) as { seq?: unknown; hash?: unknown }
  const end =
    Number.isSafeInteger(seq) && typeof hash === 'string' ? { seq: Number(seq), hash } : null
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

function objectIn(text: string): Record<string, unknown> | null {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return null
  }
}

const asObject = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
