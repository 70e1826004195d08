import { rowOf } from '@remit/contract/entries'
import type { EntryKindRow } from '@remit/contract/entries'
import { CARRIED_KIND, parseCarried, toCarriedEntry, toCarriedHeader } from '../format/carried.ts'
import type { CarriedEntry, CarriedHeader } from '../format/carried.ts'
import type { StoredEntry } from '../format/entry.ts'
import { OpenRequestEntries } from './open-requests.ts'

/** Returns the rule for pruning entries of a kind. A kind of another release counts as state. */
const carriedOf = (kind: string): EntryKindRow['carried'] => rowOf(kind)?.carried ?? 'state'

/** Returns true for kinds of events, as opposed to state. */
export const isEventKind = (kind: string): boolean => carriedOf(kind) !== 'state'

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
    if (isEventKind(kind) && carriedOf(kind) !== 'last' && !OpenRequestEntries.reads(kind, payload))
      return null
    const isCarried = kind === CARRIED_KIND
    // The erasure of a carried entry has already carried its header.
    if (payload === null) return isEventKind(kind) || isCarried ? null : toCarriedHeader(entry)
    const found = isCarried ? parseCarried(entry) : toCarriedEntry(entry)
    if (found === null) return null
    if (found.payload === null) return found
    if (carriedOf(found.kind) === 'last') {
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
