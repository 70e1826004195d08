/** Reports when a decision has computed for too long. */
export interface Meter {
  /** Starts the clock unless it is running. Called before a step that may take long. */
  start?(): void
  isOver(): boolean
}

/** Milliseconds that the conditions of one decision may compute, all stages together. */
export const DECISION_MS = 25

/** CPU time of this thread in milliseconds, so that a busy machine does not cause denials. */
export function computedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * The computing time of one decision, from `start` or the first check: most decisions finish
 * before.
 */
export class DecisionMeter implements Meter {
  readonly #computed: () => number
  readonly #passed: () => number
  #computedFrom: number | null = null
  #passedFrom = 0

  /** Both clocks give milliseconds and only measure: the time computed, and the time that passed. */
  constructor(computed: () => number = computedMs, passed: () => number = () => performance.now()) {
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
    if (this.#passed() - this.#passedFrom <= DECISION_MS) return false
    return this.#computed() - (this.#computedFrom ?? 0) > DECISION_MS
  }
}
