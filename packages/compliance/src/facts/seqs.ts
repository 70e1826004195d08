const KEPT = 50

/** Sequence numbers of a finding, unordered: all are counted, the lowest are kept. */
export class LowestSeqs {
  readonly #kept: number[] = []
  readonly #also: SeqGatherer | null
  count = 0

  constructor(also: SeqGatherer | null = null) {
    this.#also = also
  }

  /** The lowest ones, in order. */
  get seqs(): readonly number[] {
    return this.#kept
  }

  add(seq: number): void {
    this.count += 1
    this.#also?.add(seq)
    insertLowest(this.#kept, seq)
  }
}

function insertLowest(kept: number[], seq: number): void {
  const last = kept.at(-1)
  if (last === undefined || seq > last) {
    if (kept.length < KEPT) kept.push(seq)
    return
  }
  let low = 0
  let high = kept.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((kept[middle] ?? 0) < seq) low = middle + 1
    else high = middle
  }
  if (kept[low] === seq) return
  kept.splice(low, 0, seq)
  if (kept.length > KEPT) kept.pop()
}

const ENDS = 10
const SPREAD = 5

/**
 * A sample of at most 25 ordered numbers: the first ten, the last ten, and up to five evenly spaced
 * between them. It depends only on the numbers.
 */
export class SeqSample {
  readonly #first: number[] = []
  readonly #last: number[] = []
  /** Every `#stride`-th number after the first ten. */
  #between: number[] = []
  #stride = 1
  #oldest = 0
  count = 0

  add(seq: number): void {
    const nth = this.count++
    if (nth < ENDS) {
      this.#first.push(seq)
      return
    }
    const beyond = nth - ENDS
    if (beyond % this.#stride === 0) {
      this.#between.push(seq)
      if (this.#between.length === 4 * SPREAD) {
        this.#between = this.#between.filter((_, i) => i % 2 === 0)
        this.#stride *= 2
      }
    }
    if (this.#last.length < ENDS) this.#last.push(seq)
    else {
      this.#last[this.#oldest] = seq
      this.#oldest = (this.#oldest + 1) % ENDS
    }
  }

  get firstSeq(): number | null {
    return this.#first[0] ?? null
  }

  get lastSeq(): number | null {
    const { seqs } = this
    return seqs.at(-1) ?? null
  }

  get seqs(): number[] {
    const last = this.#last.toSorted((a, b) => a - b)
    const limit = last[0] ?? 0
    const inner = this.#between.filter((seq) => seq < limit)
    const step = inner.length / SPREAD
    const spread =
      inner.length <= SPREAD
        ? inner
        : Array.from({ length: SPREAD }, (_, i) => inner[Math.floor(i * step)] ?? 0)
    return [...this.#first, ...spread, ...last]
  }
}

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
