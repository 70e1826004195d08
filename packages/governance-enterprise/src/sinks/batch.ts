import type { Entry } from '@remit/contract'
import { matchesPattern } from '@remit/contract/patterns'
import type { Ledger } from '@remit/core/ledger/records'
import type { SinkRow } from '../tables/sinks.ts'
import { FORMATS } from './formats/formats.ts'
import { SinkFailure } from './targets/send.ts'
import type { Batch } from './targets/send.ts'

/** Entries per batch; pages of the ledger end at about a million bytes too. */
export const MOST = 500

/**
 * The entries from the watermark of a sink on, in order and without gaps; null if there are none.
 * Throws `SinkFailure` if entries are missing, because they were pruned.
 */
export async function readBatch(ledger: Ledger, row: SinkRow, limit = MOST): Promise<Batch | null> {
  const { org_id: orgId, next_seq: from } = row
  const { data } = await ledger.list(orgId, {
    order: 'asc',
    limit,
    ...(from > 0 && { after_seq: from - 1 }),
  })
  const last = data.at(-1)
  if (!last) return null
  if (data.some(({ seq }, i) => seq !== from + i)) throw new SinkFailure('ledger_pruned', null)
  return batchOf(row, await ledger.head(orgId), data)
}

/** The records of entries, without those that the sink leaves out. */
export function batchOf(
  { org_id: orgId, kinds, format }: SinkRow,
  { origin, note }: { readonly origin: string; readonly note: string },
  entries: readonly Entry[],
): Batch {
  const patterns = kinds === null ? null : (JSON.parse(kinds) as string[])
  const sent = entries.filter(
    ({ kind }) => patterns === null || patterns.some((pattern) => matchesPattern(pattern, kind)),
  )
  return {
    orgId,
    origin,
    note,
    format,
    from: entries[0]?.seq ?? 0,
    to: entries.at(-1)?.seq ?? 0,
    at: entries[0]?.recorded_at ?? '',
    records: sent.map((entry) => ({
      entry,
      document: FORMATS[format](entry, { orgId, origin }),
    })),
  }
}
