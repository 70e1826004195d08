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
  readonly #clock: () => number
  #started: number | null = null

  /** `clock` gives milliseconds and only measures. */
  constructor(clock: () => number = computedMs) {
    this.#clock = clock
  }

  start(): void {
    this.#started ??= this.#clock()
  }

  isOver(): boolean {
    const now = this.#clock()
    this.#started ??= now
    return now - this.#started > DECISION_MS
  }
}
