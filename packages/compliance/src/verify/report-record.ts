/** The last entry of a ledger as somebody kept it. */
export interface KeptEnd {
  readonly seq: number
  readonly hash: string
}

/** What an entry `report.generated` says. */
export interface ReportRecord {
  readonly seq: number
  /** Milliseconds. */
  readonly time: number
  readonly reportId: string
  /** The end of the ledger that the report was made from; null where the entry does not say. */
  readonly end: KeptEnd | null
  readonly said: Readonly<Record<string, unknown>>
}

/** Reads its payload; null for what says nothing of a report. */
export function readRecord(payload: string): Omit<ReportRecord, 'seq' | 'time'> | null {
  const data = dataIn(payload)
  const reportId = data?.['report_id']
  if (!data || typeof reportId !== 'string') return null
  const { seq, hash } = (data['checkpoint'] ?? {}) as { seq?: unknown; hash?: unknown }
  const end =
    Number.isSafeInteger(seq) && typeof hash === 'string' ? { seq: Number(seq), hash } : null
  return { reportId, end, said: data }
}

function dataIn(payload: string): Record<string, unknown> | null {
  try {
    const { data } = JSON.parse(payload) as { data?: unknown }
    return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : null
  } catch {
    return null
  }
}
