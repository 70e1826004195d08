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

/**
 * Kinds that say what happened once, and not how things are: pruning takes them with it. All others
 * are carried over, so that a new kind cannot be lost by being forgotten here. `docs/entry-kinds.md`
 * has the same list.
 */
export const NOT_CARRIED = [
  'approval.*',
  'authorization.decided',
  'credential.refused',
  'entry.appended',
  'guard.*',
  'issuer.fetch_failed',
  'ledger.*',
  'policy.dry_run',
  'report.generated',
  'scorer.*',
  'spend.threshold',
  'token.*',
  'trust.evaluated',
] as const

const EXACT: ReadonlySet<string> = new Set(NOT_CARRIED)

const isHappening = (kind: string): boolean =>
  EXACT.has(kind) || EXACT.has(`${kind.split('.')[0]}.*`)

/**
 * What to carry over of an entry that was recorded before `end`, the time of the cut; null for one that
 * is not carried: a happening, a credential that had ended by then, and what was erased.
 */
export function carriedOf(entry: StoredEntry, end: string): CarriedEntry | null {
  const found = entry.kind === CARRIED_KIND ? parseCarried(entry) : inside(entry)
  return found === null || isHappening(found.kind) || hasEnded(found, end) ? null : found
}

function inside(entry: StoredEntry): CarriedEntry | null {
  const { seq, recorded_at, kind, prev_hash, hash, salt } = entry
  // Most entries are happenings: their payloads need not be read.
  if (isHappening(kind) || salt === null || entry.payload === null) return null
  const payload = parsePayload(entry.payload)
  return payload && { seq, recorded_at, kind, prev_hash, hash, salt, payload }
}

/** Credentials come and go by the hour where tokens are exchanged, and say when they end. */
function hasEnded({ kind, payload }: CarriedEntry, end: string): boolean {
  if (!kind.startsWith('credential.')) return false
  const { expires_at: until } = (payload.data['credential'] ?? {}) as { expires_at?: unknown }
  return typeof until === 'string' && until < end
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
