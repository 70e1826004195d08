import { computedMs } from './meter.ts'

/** Milliseconds after which a transaction begins no further decision. */
export const BATCH_MS = 10

/**
 * The computing time of one transaction. A decision that has begun is finished, so that each
 * transaction gets on with at least one; the rest waits for the next.
 */
export class BatchTime {
  readonly #clock: () => number
  #spentMs = 0

  /** `clock` gives milliseconds and only measures. */
  constructor(clock: () => number = computedMs) {
    this.#clock = clock
  }

  /** Milliseconds of all `firstOf` so far. */
  get spentMs(): number {
    return this.#spentMs
  }

  /** The results for the items at the beginning of the list that there is time for. Synchronous: nobody else computes meanwhile. */
  firstOf<Item, Result>(items: readonly Item[], compute: (item: Item) => Result): Result[] {
    const results: Result[] = []
    const before = this.#spentMs
    const cpu = this.#clock()
    const wall = performance.now()
    for (const item of items) {
      // The time of the day costs a tenth of the CPU time, and is never behind it.
      if (before + performance.now() - wall >= BATCH_MS) {
        this.#spentMs = before + this.#clock() - cpu
        if (this.#spentMs >= BATCH_MS) return results
      }
      results.push(compute(item))
    }
    this.#spentMs = before + this.#clock() - cpu
    return results
  }
}
