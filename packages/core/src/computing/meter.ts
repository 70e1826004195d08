import { computedMs } from '../base/cpu-time.ts'

/** Reports when a decision has computed for too long. */
export interface Meter {
  /** Starts the clock unless it is running. Called before a step that may take long. */
  start?(): void
  isOver(): boolean
}

/** Milliseconds that the conditions of one decision may compute, all stages together. */
export const DECISION_MS = 25

/**
 * The computing time of one decision, from `start` or the first check: most decisions finish
 * before.
 */
export class DecisionMeter implements Meter {
  readonly #limitMs: number
  readonly #computed: () => number
  readonly #passed: () => number
  #computedFrom: number | null = null
  #passedFrom = 0

  /** Both clocks give milliseconds and only measure: the time computed, and the time that passed. */
  constructor(
    limitMs: number = DECISION_MS,
    computed: () => number = computedMs,
    passed: () => number = () => performance.now(),
  ) {
    this.#limitMs = limitMs
    this.#computed = computed
    this.#passed = passed
  }

  start(): void {
    if (this.#computedFrom !== null) return
    this.#computedFrom = this.#computed()
    this.#passedFrom = this.#passed()
  }

  isOver(): boolean {
    this.start()
    // The time that passed costs a tenth of the time computed, and is never behind it.
    if (this.#passed() - this.#passedFrom <= this.#limitMs) return false
    return this.#computed() - (this.#computedFrom ?? 0) > this.#limitMs
  }
}

/** Milliseconds after which a transaction starts no further decision. */
export const BATCH_MS = 10

/**
 * The computing time of one transaction. A started decision is finished, so every transaction makes
 * progress; the remaining decisions wait for the next transaction.
 */
export class BatchTime {
  readonly #clock: () => number
  /** Milliseconds of `firstOf` so far. */
  spentMs = 0

  /** `clock` gives milliseconds and only measures. */
  constructor(clock: () => number = computedMs) {
    this.#clock = clock
  }

  /**
   * Returns the results for as many leading items as the time allows. Synchronous: no other work
   * runs in between.
   */
  firstOf<Item, Result>(items: readonly Item[], compute: (item: Item) => Result): Result[] {
    const results: Result[] = []
    const before = this.spentMs
    const cpu = this.#clock()
    const wall = performance.now()
    for (const item of items) {
      // The wall clock costs a tenth of reading the CPU time and never runs behind it.
      if (before + performance.now() - wall >= BATCH_MS) {
        this.spentMs = before + this.#clock() - cpu
        if (this.spentMs >= BATCH_MS) return results
      }
      results.push(compute(item))
    }
    this.spentMs = before + this.#clock() - cpu
    return results
  }
}
