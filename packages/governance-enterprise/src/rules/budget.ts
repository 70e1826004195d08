/** Says when a decision has taken too long. */
export interface Meter {
  isOver(): boolean
}

/**
 * What one evaluation may spend, in steps of some 60 ns or 30 bytes: the same request gets the same
 * answer on a slow machine, and what is made on the way stays within 64 MB.
 */
const MAX_STEPS = 2e6
// Asking the time costs as much as a few turns of a loop.
const STEPS_A_LOOK = 256

class Budget {
  /** Once it is, the answer is an error, even where CEL forgets the error of one side. */
  isOver = false
  readonly #steps: number
  readonly #meter: Meter | undefined
  #spent = 0
  #looked = 0

  constructor(steps: number, meter: Meter | undefined) {
    this.#steps = steps
    this.#meter = meter
  }

  spend(steps: number): void {
    this.#spent += steps
    if (this.#spent > this.#steps) this.#end('the condition does too much')
    if (this.#spent - this.#looked < STEPS_A_LOOK) return
    this.#looked = this.#spent
    if (this.#meter?.isOver()) this.#end('the decision takes too long')
  }

  #end(message: string): never {
    this.isOver = true
    throw new Error(message)
  }
}

let budget: Budget | null = null

/** Runs an evaluation, which is synchronous, within its bounds; undefined if it went over them. */
export function bounded<T>(run: () => T, meter?: Meter, steps: number = MAX_STEPS): T | undefined {
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
