import { JudgeFailure } from './failure.ts'

interface Waiting {
  readonly amount: number
  readonly resolve: () => void
  readonly reject: (error: JudgeFailure) => void
}

/**
 * The cost limit of a request. A call reserves its maximum cost before it starts, so that
 * concurrent calls cannot exceed the limit together; a call that does not fit waits for running
 * ones to release unused amounts. Amounts are in the unit of `priceOf`.
 */
export class CostBudget {
  readonly #limit: number
  readonly #waiting: Waiting[] = []
  #spent = 0
  #reserved = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Rejects with `judge_budget_exceeded` if the amount can no longer fit. */
  reserve(amount: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ amount, resolve, reject })
      this.#admit()
    })
  }

  /** Replaces the reserved amount of a finished call by its actual cost. */
  settle(reserved: number, spent: number): void {
    this.#reserved -= reserved
    this.#spent += spent
    this.#admit()
  }

  #admit(): void {
    for (;;) {
      const [next] = this.#waiting
      if (!next) return
      if (this.#spent + this.#reserved + next.amount <= this.#limit) {
        this.#waiting.shift()
        this.#reserved += next.amount
        next.resolve()
      } else if (this.#reserved === 0) {
        this.#waiting.shift()
        next.reject(
          new JudgeFailure('judge_budget_exceeded', 'the call would exceed the cost limit'),
        )
      } else return
    }
  }
}
