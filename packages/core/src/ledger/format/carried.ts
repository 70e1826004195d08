import type { EntryDraft } from './draft.ts'
import { commitmentOf, parsePayload, payloadText } from './entry.ts'
import type { EntryPayload, StoredEntry } from './entry.ts'

/** The kind of an entry that repeats a pruned one. */
export const CARRIED_KIND = 'state.carried'

interface Carried {
  readonly seq: number
  readonly recorded_at: string
  readonly kind: string
  readonly prev_hash: string
  readonly hash: string
}

/** An entry inside another one, with all that is needed to rebuild its header and hash. */
export interface CarriedEntry extends Carried {
  readonly salt: string
  readonly payload: EntryPayload
}

/** The remainder of an erased entry: its kind and time. */
export interface CarriedHeader extends Carried {
  readonly commitment: string
  readonly payload: null
}

/** Returns the carried form of an entry; null if its payload is missing or invalid. */
export function toCarriedEntry(entry: StoredEntry): CarriedEntry | null {
  const { seq, recorded_at, kind, prev_hash, hash, salt } = entry
  if (salt === null || entry.payload === null) return null
  const payload = parsePayload(entry.payload)
  return payload && { seq, recorded_at, kind, prev_hash, hash, salt, payload }
}

/** Returns the carried form of an erased entry. */
export function toCarriedHeader(entry: CarriedEntry | StoredEntry): CarriedHeader {
  const { seq, recorded_at, kind, prev_hash, hash } = entry
  const commitment =
    'commitment' in entry ? entry.commitment : commitmentOf(entry.salt, payloadText(entry.payload))
  return { seq, recorded_at, kind, prev_hash, hash, commitment, payload: null }
}

/** Returns the entry that carries another one; `actor` is the one that prunes. */
export const carriedDraft = (
  entry: CarriedEntry | CarriedHeader,
  actor: EntryDraft['actor'],
): EntryDraft => ({
  kind: CARRIED_KIND,
  actor,
  data: { entry },
})

/** Returns the content of a `state.carried` entry; null for other kinds, and if it was erased. */
export function parseCarried({ kind, payload }: StoredEntry): CarriedEntry | CarriedHeader | null {
  if (kind !== CARRIED_KIND || payload === null) return null
  const entry = parsePayload(payload)?.data['entry'] as CarriedEntry | CarriedHeader | undefined
  return typeof entry?.seq === 'number' ? entry : null
}
