import type { Meter } from '@remit/core'

/**
 * What one evaluation may spend, in steps of some 60 ns or 30 bytes: the same request gets the same
 * answer on a slow machine, and what is made on the way stays within 64 MB.
 */
const MAX_STEPS = 2e6
// Asking the time costs as much as a few turns of a loop.
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

  /** Once it is, the answer is an error, even where CEL forgets the error of one side. */
  get isOver(): boolean {
    return this.#end !== null
  }

  spend(steps: number): void {
    // CEL goes on after an error where the other side, or another element, may settle the answer.
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

/** Runs an evaluation, which is synchronous, within its bounds; undefined if it went over them. */
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

/** Called before the work is done; throws when it is too much. */
export const spend = (steps: number): void => budget?.spend(steps)
