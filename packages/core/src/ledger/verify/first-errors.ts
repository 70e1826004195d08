const KEPT_ERRORS = 100

interface Placed {
  readonly seq: number
  readonly code: string
}

/**
 * Collects errors by sequence number in any order: the first hundred and the first of each code, so
 * that many errors cannot hide one of another kind. Counts them all.
 */
export class FirstErrors<E extends Placed> {
  /** In order. */
  readonly #kept: E[] = []
  readonly #ofCode = new Map<E['code'], E>()
  #count = 0

  add(error: E): void {
    this.#count++
    const known = this.#ofCode.get(error.code)
    if (!known || error.seq < known.seq) this.#ofCode.set(error.code, error)
    this.#keep(error)
  }

  get count(): number {
    return this.#count
  }

  /** The first hundred. */
  get list(): readonly E[] {
    return this.#kept
  }

  /** The first of each code. */
  get ofEachCode(): readonly E[] {
    return [...this.#ofCode.values()]
  }

  /** The first error; of several at one entry, the one that was found first. */
  get first(): E | null {
    return this.#kept[0] ?? null
  }

  #keep(error: E): void {
    const kept = this.#kept
    const last = kept.at(-1)
    if (kept.length === KEPT_ERRORS && last && error.seq >= last.seq) return
    // Nearly all errors arrive in order.
    const at = kept.findLastIndex(({ seq }) => seq <= error.seq) + 1
    kept.splice(at, 0, error)
    if (kept.length > KEPT_ERRORS) kept.pop()
  }
}
