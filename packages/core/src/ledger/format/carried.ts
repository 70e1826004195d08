import type { EntryDraft } from './draft.ts'
import { commitmentOf, parsePayload, payloadText } from './entry.ts'
import type { EntryPayload, StoredEntry } from './entry.ts'

/** The kind of an entry that says again what a pruned one said. */
export const CARRIED_KIND = 'state.carried'

interface Carried {
  readonly seq: number
  readonly recorded_at: string
  readonly kind: string
  readonly prev_hash: string
  readonly hash: string
}

/** An entry inside another: enough to make its header again, and with it its hash. */
export interface CarriedEntry extends Carried {
  readonly salt: string
  readonly payload: EntryPayload
}

/** What is left of an entry that was erased: that something of its kind was recorded, and when. */
export interface CarriedHeader extends Carried {
  readonly commitment: string
  readonly payload: null
}

/** An entry as it is carried, whole; null for one whose payload is gone, or is none. */
export function toCarry(entry: StoredEntry): CarriedEntry | null {
  const { seq, recorded_at, kind, prev_hash, hash, salt } = entry
  if (salt === null || entry.payload === null) return null
  const payload = parsePayload(entry.payload)
  return payload && { seq, recorded_at, kind, prev_hash, hash, salt, payload }
}

/** What is carried of an entry once it was erased. */
export function toHeader(entry: CarriedEntry | StoredEntry): CarriedHeader {
  const { seq, recorded_at, kind, prev_hash, hash } = entry
  const commitment =
    'commitment' in entry ? entry.commitment : commitmentOf(entry.salt, payloadText(entry.payload))
  return { seq, recorded_at, kind, prev_hash, hash, commitment, payload: null }
}

/** The entry that carries another one; `actor` is who prunes. */
export const carriedDraft = (
  entry: CarriedEntry | CarriedHeader,
  actor: EntryDraft['actor'],
): EntryDraft => ({
  kind: CARRIED_KIND,
  actor,
  data: { entry },
})

/** What an entry carries; null if it carries none, or was erased. */
export function parseCarried({ kind, payload }: StoredEntry): CarriedEntry | CarriedHeader | null {
  if (kind !== CARRIED_KIND || payload === null) return null
  const entry = parsePayload(payload)?.data['entry'] as CarriedEntry | CarriedHeader | undefined
  return typeof entry?.seq === 'number' ? entry : null
}
