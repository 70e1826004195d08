/** Sequence numbers in order, and whether there are none above the last of them. */
export interface SeqRun {
  readonly seqs: Float64Array
  readonly isWhole: boolean
}

/**
 * Gathers the lowest sequence numbers above a place, each once, of any number that come in any order: the
 * same one may be evidence of several kinds.
 */
export class SeqGatherer {
  readonly #most: number
  /** Those that are left out: at or below the place, and later from here on. */
  readonly #above: number
  #below = Number.POSITIVE_INFINITY
  #kept: number[] = []
  #isOrdered = true

  constructor(after: number | null, most: number) {
    this.#above = after ?? -1
    this.#most = most
  }

  add(seq: number): void {
    if (seq <= this.#above || seq >= this.#below) return
    const last = this.#kept.at(-1)
    if (seq === last) return
    if (last !== undefined && seq < last) this.#isOrdered = false
    this.#kept.push(seq)
    // Put in order now and then: one at a time would move all of them again and again.
    if (this.#kept.length >= 2 * this.#most) this.#tidy()
  }

  get run(): SeqRun {
    this.#tidy()
    return {
      seqs: Float64Array.from(this.#kept),
      isWhole: this.#below === Number.POSITIVE_INFINITY,
    }
  }

  #tidy(): void {
    if (!this.#isOrdered) this.#kept = [...new Set(this.#kept)].toSorted((a, b) => a - b)
    this.#isOrdered = true
    const [tooMany] = this.#kept.splice(this.#most)
    this.#below = tooMany ?? this.#below
  }
}
