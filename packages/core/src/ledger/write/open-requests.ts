import type { CarriedEntry } from '../format/carried.ts'

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
export class OpenRequestEntries {
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
  return text(payload.data['approval'], 'id')
}

const isClosing = ({ kind, payload }: CarriedEntry): boolean =>
  CLOSING.has(kind) ||
  (kind === 'approval.decided' && text(payload.data['approval'], 'status') === 'rejected')

function namesPolicy({ payload }: CarriedEntry): boolean {
  const { matched } = payload.data
  return Array.isArray(matched) && matched.some((one) => text(one, 'kind') === 'policy')
}

function text(of: unknown, name: string): string | null {
  const value = (of as Record<string, unknown> | null | undefined)?.[name]
  return typeof value === 'string' ? value : null
}
