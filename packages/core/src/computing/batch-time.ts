import { computedMs } from './meter.ts'

/** Milliseconds after which a transaction starts no further decision. */
export const BATCH_MS = 10

/**
 * The computing time of one transaction. A started decision is finished, so every transaction makes
 * progress; the remaining decisions wait for the next transaction.
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

  /**
   * Returns the results for as many leading items as the time allows. Synchronous: no other work
   * runs in between.
   */
  firstOf<Item, Result>(items: readonly Item[], compute: (item: Item) => Result): Result[] {
    const results: Result[] = []
    const before = this.#spentMs
    const cpu = this.#clock()
    const wall = performance.now()
    for (const item of items) {
      // The wall clock costs a tenth of reading the CPU time and never runs behind it.
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
