import type { EntryDraft } from './draft.ts'
import { parsePayload } from './entry.ts'
import type { EntryPayload, StoredEntry } from './entry.ts'

/** The kind of an entry that says again what a pruned one said. */
export const CARRIED_KIND = 'state.carried'

/** An entry inside another: enough to make its header again, and with it its hash. */
export interface CarriedEntry {
  readonly seq: number
  readonly recorded_at: string
  readonly kind: string
  readonly prev_hash: string
  readonly hash: string
  readonly salt: string
  readonly payload: EntryPayload
}

/** An entry as it is carried, whole; null for one whose payload is gone. */
export function toCarry(entry: StoredEntry): CarriedEntry | null {
  const { seq, recorded_at, kind, prev_hash, hash, salt } = entry
  if (salt === null || entry.payload === null) return null
  const payload = parsePayload(entry.payload)
  return payload && { seq, recorded_at, kind, prev_hash, hash, salt, payload }
}

/** The entry that carries another one; `actor` is who prunes. */
export const carriedDraft = (entry: CarriedEntry, actor: EntryDraft['actor']): EntryDraft => ({
  kind: CARRIED_KIND,
  actor,
  data: { entry },
})

/** What an entry carries; null if it carries none, or was erased. */
export function parseCarried({ kind, payload }: StoredEntry): CarriedEntry | null {
  if (kind !== CARRIED_KIND || payload === null) return null
  const entry = parsePayload(payload)?.data['entry'] as CarriedEntry | undefined
  return typeof entry?.seq === 'number' ? entry : null
}
