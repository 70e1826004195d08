/** Tells when a decision has computed for too long. */
export interface Meter {
  /** Starts the clock, unless it runs. Called before what may take long between two looks. */
  start?(): void
  isOver(): boolean
}

/** Milliseconds that the conditions of one decision may compute, all stages together. */
export const DECISION_MS = 25

/** CPU time of this thread in milliseconds: a busy machine must not deny a decision. */
export function computedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The computing time of one decision. It runs from `start` or the first look: most decisions end before. */
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
