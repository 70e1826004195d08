import { CARRIED_KIND, parseCarried, toCarriedEntry, toCarriedHeader } from '../format/carried.ts'
import type { CarriedEntry, CarriedHeader } from '../format/carried.ts'
import type { StoredEntry } from '../format/entry.ts'
import { OpenRequestEntries } from './open-requests.ts'

/**
 * Kinds of events, which pruning removes. Entries of all other kinds are state and are carried
 * over, so that a new kind cannot be forgotten here. `docs/entry-kinds.md` has the same list, with
 * the exceptions.
 */
export const NOT_CARRIED = [
  'approval.*',
  'authorization.decided',
  'credential.refused',
  'enforcement.gap',
  'entry.appended',
  'guard.*',
  'identity.*',
  'inventory.reported',
  'issuer.fetch_failed',
  'ledger.*',
  'person.sign_in_refused',
  'person.signed_out',
  'policy.dry_run',
  'quota.threshold',
  'report.generated',
  'scorer.*',
  'selftest.checked',
  'spend.rebuilt',
  'spend.threshold',
  'token.*',
  'trust.evaluated',
  'webhook.tested',
] as const

const EXACT: ReadonlySet<string> = new Set(NOT_CARRIED)

/** Returns true for kinds of events, as opposed to state. */
export const isEventKind = (kind: string): boolean =>
  EXACT.has(kind) || EXACT.has(`${kind.split('.')[0]}.*`)

/** Of these kinds, the last entry is state: the last trial of rules and the last heartbeat. */
const LAST: ReadonlySet<string> = new Set(['ledger.heartbeat', 'policy.dry_run'])

/**
 * Selects the entries below a cut that a pruning carries over: state, without ended credentials;
 * all entries of approval requests that are open at the cut; and the last entry of some kinds. Of
 * an erased entry it carries the header, so that readers know that some state is missing.
 *
 * Entries must be added in their original order: first those that an earlier pruning carried over,
 * then all others. In the ledger the former follow later events.
 */
export class CarrySelection {
  readonly #end: string
  readonly #requests = new OpenRequestEntries()
  readonly #last = new Map<string, CarriedEntry>()

  /** `end` is the time of the cut; every entry was recorded before. */
  constructor(end: string) {
    this.#end = end
  }

  /** Adds an entry that is already carried above the cut and remains. Called before `add`. */
  keep(entry: CarriedEntry | CarriedHeader): void {
    if (entry.payload !== null) this.#requests.keep(entry)
  }

  /**
   * Adds the next entry below the cut; returns its carried form unless that depends on later ones.
   */
  add(entry: StoredEntry): CarriedEntry | CarriedHeader | null {
    const { kind, payload } = entry
    // Most entries are events: their payloads need not be parsed.
    if (isEventKind(kind) && !LAST.has(kind) && !OpenRequestEntries.reads(kind, payload))
      return null
    const isCarried = kind === CARRIED_KIND
    // The erasure of a carried entry has already carried its header.
    if (payload === null) return isEventKind(kind) || isCarried ? null : toCarriedHeader(entry)
    const found = isCarried ? parseCarried(entry) : toCarriedEntry(entry)
    if (found === null) return null
    if (found.payload === null) return found
    if (LAST.has(found.kind)) {
      this.#last.set(found.kind, found)
      return null
    }
    if (isEventKind(found.kind)) return this.#requests.add(found, isCarried) ? found : null
    return hasEnded(found, this.#end) ? null : found
  }

  /** Returns the remaining entries to carry, after all entries were added. */
  rest(): CarriedEntry[] {
    return [...this.#last.values(), ...this.#requests.entries()]
  }
}

/**
 * Token exchange creates many short-lived credentials, whose entries contain the expiry. A rotation
 * also contains the expiry of the old credential, which may be later than that of its successor.
 */
function hasEnded({ kind, payload }: CarriedEntry, end: string): boolean {
  if (!kind.startsWith('credential.') || kind === 'credential.rotated') return false
  const { expires_at: until } = (payload.data['credential'] ?? {}) as { expires_at?: unknown }
  return typeof until === 'string' && until < end
}
