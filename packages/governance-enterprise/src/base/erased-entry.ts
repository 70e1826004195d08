import { parseCarried } from '@remit/core/ledger/proofs'
import type { StoredEntry } from '@remit/core/ledger/proofs'

/** The content of an entry before its erasure, or of the pruned entry that it carries over; null without any. */
export function contentOf(
  entry: StoredEntry,
): { readonly kind: string; readonly data: unknown } | null {
  if (entry.payload === null) return null
  const carried = parseCarried(entry)
  const { kind } = carried ?? entry
  const { data } = (carried?.payload ?? JSON.parse(entry.payload)) as { data: unknown }
  return { kind, data }
}
