import type { Meter } from '@remit/core/decision'

/**
 * The steps of one evaluation, of about 60 ns or 30 bytes each: independent of the machine's speed,
 * within 64 MB.
 */
const MAX_STEPS = 2e6
// Reading the clock costs as much as a few loop iterations.
const STEPS_A_LOOK = 256

class Budget {
  readonly #steps: number
  readonly #meter: Meter | undefined
  #spent = 0
  #looked = 0
  #end: Error | null = null

  constructor(steps: number, meter: Meter | undefined) {
    this.#steps = steps
    this.#meter = meter
  }

  /** Then the result is an error, even if CEL ignores the error of one operand. */
  get isOver(): boolean {
    return this.#end !== null
  }

  spend(steps: number): void {
    // CEL continues after an error if another operand or element can determine the result.
    if (this.#end) throw this.#end
    this.#spent += steps
    if (this.#spent > this.#steps)
      throw (this.#end = new Error('the condition exceeds its cost limit'))
    if (this.#spent - this.#looked < STEPS_A_LOOK) return
    this.#looked = this.#spent
    if (this.#meter?.isOver()) throw (this.#end = new Error('the decision exceeds its time limit'))
  }
}

let budget: Budget | null = null

/** Runs a synchronous evaluation within its limits; undefined if it exceeded them. */
export function bounded<T>(run: () => T, meter?: Meter, steps: number = MAX_STEPS): T | undefined {
  meter?.start?.()
  const outer = budget
  const own = new Budget(steps, meter)
  budget = own
  try {
    const result = run()
    return own.isOver ? undefined : result
  } finally {
    budget = outer
  }
}

/** Called before the work; throws if the budget is exceeded. */
export const spend = (steps: number): void => budget?.spend(steps)
