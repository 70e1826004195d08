/** Sequence numbers in order, and whether further ones exist. */
export interface SeqRun {
  readonly seqs: Float64Array
  readonly isWhole: boolean
}

/**
 * Collects the lowest distinct sequence numbers above a position, from any number of unordered
 * ones: one entry can be evidence of several kinds.
 */
export class SeqGatherer {
  readonly #most: number
  /** Numbers up to this one are excluded; it grows. */
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
    // Sorts occasionally: insertion one at a time would move all numbers repeatedly.
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
