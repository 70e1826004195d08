import { JudgeFailure } from './failure.ts'

/**
 * The cost limit of a request. A call reserves its maximum cost before it starts, so that
 * concurrent calls cannot exceed the limit together; a call that does not fit waits for running
 * ones to release unused amounts. Amounts are in the unit of `priceOf`.
 */
export class CostBudget {
  readonly #waiting: (PromiseWithResolvers<void> & { readonly amount: number })[] = []
  /** Neither spent nor reserved. */
  #left: number
  #reserved = 0

  constructor(limit: number) {
    this.#left = limit
  }

  /** Rejects with `judge_budget_exceeded` if the amount can no longer fit. */
  reserve(amount: number): Promise<void> {
    const waiting = { ...Promise.withResolvers<void>(), amount }
    this.#waiting.push(waiting)
    this.#admit()
    return waiting.promise
  }

  /** Replaces the reserved amount of a finished call by its actual cost. */
  settle(reserved: number, spent: number): void {
    this.#reserved -= reserved
    this.#left += reserved - spent
    this.#admit()
  }

  #admit(): void {
    let [next] = this.#waiting
    while (next && (next.amount <= this.#left || this.#reserved === 0)) {
      if (next.amount <= this.#left) {
        this.#left -= next.amount
        this.#reserved += next.amount
        next.resolve()
      } else next.reject(exceeded())
      this.#waiting.shift()
      next = this.#waiting[0]
    }
  }
}

const exceeded = () =>
  new JudgeFailure('judge_budget_exceeded', 'the call would exceed the cost limit')
