import { CARRIED_KIND, parseCarried, toCarry, toHeader } from '../format/carried.ts'
import type { CarriedEntry, CarriedHeader } from '../format/carried.ts'
import type { StoredEntry } from '../format/entry.ts'
import { OpenRequests } from './open-requests.ts'

/**
 * Kinds that say what happened once, and not how things are: pruning takes them with it. All others
 * are carried over, so that a new kind cannot be lost by being forgotten here. `docs/entry-kinds.md`
 * has the same list, and what is carried of these all the same.
 */
export const NOT_CARRIED = [
  'approval.*',
  'authorization.decided',
  'credential.refused',
  'enforcement.gap',
  'entry.appended',
  'guard.*',
  'identity.*',
  'issuer.fetch_failed',
  'ledger.*',
  'policy.dry_run',
  'report.generated',
  'scorer.*',
  'selftest.checked',
  'spend.threshold',
  'token.*',
  'trust.evaluated',
] as const

const EXACT: ReadonlySet<string> = new Set(NOT_CARRIED)

/** Whether entries of a kind say what happened, and not how things are. */
export const isHappening = (kind: string): boolean =>
  EXACT.has(kind) || EXACT.has(`${kind.split('.')[0]}.*`)

/** Of these kinds the last one says how things are: that rules were tried, and that the server beats. */
const LAST: ReadonlySet<string> = new Set(['ledger.heartbeat', 'policy.dry_run'])

/**
 * Says what a pruning carries over of the entries below its cut: those that say how things are, without
 * credentials that had ended; all that tells of requests for approval that are open at the cut; and
 * the last of some kinds. Of one that was erased it carries the header: what it said is gone, but a
 * reader must know that how things are is not all there.
 *
 * It is given them as they came about: first the ones that an earlier pruning carried over, then all
 * others. In the ledger the former stand behind what happened to them later.
 */
export class Carrying {
  readonly #end: string
  readonly #requests = new OpenRequests()
  readonly #last = new Map<string, CarriedEntry>()

  /** `end`: the time of the cut; every entry was recorded before. */
  constructor(end: string) {
    this.#end = end
  }

  /** Before the others, each that is carried above the cut already, and stays. */
  keep(entry: CarriedEntry | CarriedHeader): void {
    if (entry.payload !== null) this.#requests.keep(entry)
  }

  /** The next entry below the cut; what to carry of it, where that does not depend on later ones. */
  add(entry: StoredEntry): CarriedEntry | CarriedHeader | null {
    const { kind, payload } = entry
    // Most entries are happenings: their payloads need not be read.
    if (isHappening(kind) && !LAST.has(kind) && !OpenRequests.reads(kind, payload)) return null
    const isCarried = kind === CARRIED_KIND
    // The erasure of one that was carried has carried its header.
    if (payload === null) return isHappening(kind) || isCarried ? null : toHeader(entry)
    const found = isCarried ? parseCarried(entry) : toCarry(entry)
    if (found === null) return null
    if (found.payload === null) return found
    if (LAST.has(found.kind)) {
      this.#last.set(found.kind, found)
      return null
    }
    if (isHappening(found.kind)) return this.#requests.add(found, isCarried) ? found : null
    return hasEnded(found, this.#end) ? null : found
  }

  /** What else to carry, once all entries were given. */
  rest(): CarriedEntry[] {
    return [...this.#last.values(), ...this.#requests.entries()]
  }
}

/**
 * Credentials come and go by the hour where tokens are exchanged, and say when they end. A rotation also
 * says when the one before ends, which may have been meant to last longer than its successor.
 */
function hasEnded({ kind, payload }: CarriedEntry, end: string): boolean {
  if (!kind.startsWith('credential.') || kind === 'credential.rotated') return false
  const { expires_at: until } = (payload.data['credential'] ?? {}) as { expires_at?: unknown }
  return typeof until === 'string' && until < end
}
