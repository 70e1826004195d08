import { CARRIED_KIND, parseCarried, toCarry } from './carried.ts'
import type { CarriedEntry } from './carried.ts'
import type { StoredEntry } from './entry.ts'
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

/** Of these kinds the last one says how things are: that rules were tried, and that the server beats. */
const LAST: ReadonlySet<string> = new Set(['ledger.heartbeat', 'policy.dry_run'])

/**
 * Says what a pruning carries over of the entries below its cut: those that say how things are, without
 * credentials that had ended; all that tells of requests for approval that are open at the cut; and
 * the last of some kinds. Of what was erased nothing is left to carry.
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
  keep(entry: CarriedEntry): void {
    this.#requests.keep(entry)
  }

  /** The next entry below the cut; what to carry of it, where that does not depend on later ones. */
  add(entry: StoredEntry): CarriedEntry | null {
    const { kind, payload } = entry
    // Most entries are happenings: their payloads need not be read.
    if (isHappening(kind) && !LAST.has(kind) && !OpenRequests.reads(kind, payload)) return null
    const isCarried = kind === CARRIED_KIND
    const found = isCarried ? parseCarried(entry) : toCarry(entry)
    if (found === null) return null
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
