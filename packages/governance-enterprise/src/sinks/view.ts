import type { RecordedSink, Sink, SinkTarget } from '@remit/contract'
import type { SinkRow } from '../tables/sinks.ts'

/** A sink in an entry: without secrets, and without its progress. */
export const recordedSink = (row: SinkRow): RecordedSink => ({
  id: row.id,
  type: row.type,
  target: JSON.parse(row.target) as SinkTarget,
  format: row.format,
  kinds: row.kinds === null ? null : (JSON.parse(row.kinds) as string[]),
  description: row.description,
  enabled: row.enabled === 1,
  created_at: row.created_at,
  created_by: row.created_by,
  updated_at: row.updated_at,
})

/** A sink in API form; `size` is the number of entries in the ledger. */
export const wireSink = (row: SinkRow, size: number): Sink => ({
  ...recordedSink(row),
  state: row.enabled === 0 ? 'paused' : row.error_code === null ? 'streaming' : 'retrying',
  watermark_seq: row.next_seq === 0 ? null : row.next_seq - 1,
  lag_entries: Math.max(0, size - row.next_seq),
  last_sent_at: row.sent_at,
  last_error:
    row.error_code === null
      ? null
      : { code: row.error_code, status: row.error_status, at: row.error_at ?? row.updated_at },
})
