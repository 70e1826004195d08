import { readData, rowOf } from '@remit/contract/entries'
import type { EntryKindRow } from '@remit/contract/entries'
import { CARRIED_KIND, parseCarried, toCarriedEntry, toCarriedHeader } from '../format/carried.ts'
import type { CarriedEntry, CarriedHeader } from '../format/carried.ts'
import type { StoredEntry } from '../format/entry.ts'

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
  const until = readData('credential.issued', payload.data).credential?.expires_at ?? null
  return until !== null && until < end
}

const DECIDED = 'authorization.decided'

const CLOSING: ReadonlySet<string> = new Set([
  'approval.consumed',
  'approval.expired',
  'approval.cancelled',
  'approval.revoked',
])

/** The entries of an approval request. */
interface RequestEntries {
  readonly entries: CarriedEntry[]
  /** The last decision with policies that led to the request. */
  decision: CarriedEntry | null
}

/**
 * Approval requests that are open at the cut. A later allow can depend on one, so all of its
 * entries are needed. Expiry alone does not close a request: it depends on the current time, and
 * its entry may be late.
 */
class OpenRequestEntries {
  readonly #open = new Map<string, RequestEntries>()
  readonly #kept = new Set<string>()
  /**
   * Closed by entries that were carried before: one pruning may carry the opening entry of a
   * request after another has carried its closing entry.
   */
  readonly #closed = new Set<string>()

  /**
   * Returns true if an entry may belong to a request, judged by its text, since few decisions do.
   */
  static reads(kind: string, payload: string | null): boolean {
    if (kind.startsWith('approval.')) return true
    return kind === DECIDED && payload !== null && payload.includes('"decision":"needs_approval"')
  }

  /**
   * Adds an entry that was carried before and remains: the closing entry of its request must remain
   * too.
   */
  keep(entry: CarriedEntry): void {
    const id = idIn(entry)
    if (id === null) return
    this.#kept.add(id)
    if (isClosing(entry)) this.#closed.add(id)
  }

  /**
   * Adds the next entry, carried before or not. Returns true if it closes a request with remaining
   * entries.
   */
  add(entry: CarriedEntry, isCarried: boolean): boolean {
    const id = idIn(entry)
    if (id === null) return false
    if (isClosing(entry)) {
      if (isCarried) this.#closed.add(id)
      this.#open.delete(id)
      return this.#kept.has(id)
    }
    if (this.#closed.has(id)) return false
    const told = this.#open.get(id) ?? { entries: [], decision: null }
    this.#open.set(id, told)
    if (entry.kind !== DECIDED) told.entries.push(entry)
    else if (namesPolicy(entry)) told.decision = entry
    return false
  }

  /** Returns all entries of the open requests. */
  entries(): CarriedEntry[] {
    return [...this.#open.values()].flatMap(({ entries, decision }) =>
      decision === null ? entries : [decision, ...entries],
    )
  }
}

/** Returns the request of an entry; null for none, and for closed ones. */
function idIn({ kind, payload }: CarriedEntry): string | null {
  if (kind === DECIDED ? payload.decision !== 'needs_approval' : !kind.startsWith('approval.'))
    return null
  return readData('approval.requested', payload.data).approval?.id ?? null
}

const isClosing = ({ kind, payload }: CarriedEntry): boolean =>
  CLOSING.has(kind) ||
  (kind === 'approval.decided' && readData(kind, payload.data).approval?.status === 'rejected')

const namesPolicy = ({ payload }: CarriedEntry): boolean =>
  readData(DECIDED, payload.data).matched?.some(({ kind }) => kind === 'policy') ?? false
