import type { CarriedEntry } from '../format/carried.ts'

const DECIDED = 'authorization.decided'

const CLOSING: ReadonlySet<string> = new Set([
  'approval.consumed',
  'approval.expired',
  'approval.cancelled',
  'approval.revoked',
])

/** What tells of a request for approval. */
interface Told {
  readonly entries: CarriedEntry[]
  /** The last decision that names policies by which the request came so far. */
  decision: CarriedEntry | null
}

/**
 * The requests for approval that entries open and none of them closes. An allow of later can rest on
 * one, or pass over it, so all that tells of it is needed then. Time alone closes none: whether it ran
 * out is a matter of when one asks, and the entry about it may come late.
 */
export class OpenRequests {
  readonly #open = new Map<string, Told>()
  readonly #kept = new Set<string>()
  /** By what was carried before: one pruning may repeat what opens a request after another what closes it. */
  readonly #closed = new Set<string>()

  /** Whether an entry can tell of a request; told from its text, since few decisions do. */
  static reads(kind: string, payload: string | null): boolean {
    if (kind.startsWith('approval.')) return true
    return kind === DECIDED && payload !== null && payload.includes('"decision":"needs_approval"')
  }

  /** An entry of before that stays carried: whatever closes its request has to stay with it. */
  keep(entry: CarriedEntry): void {
    const id = idIn(entry)
    if (id === null) return
    this.#kept.add(id)
    if (isClosing(entry)) this.#closed.add(id)
  }

  /** The next entry, carried before or not. Whether it closes a request of which something stays. */
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

  /** All that tells of those that are open. */
  entries(): CarriedEntry[] {
    return [...this.#open.values()].flatMap(({ entries, decision }) =>
      decision === null ? entries : [decision, ...entries],
    )
  }
}

/** The request that an entry tells of; null for one that tells of none, or of no open one. */
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
