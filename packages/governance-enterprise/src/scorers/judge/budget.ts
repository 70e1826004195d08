import { JudgeFailure } from './failure.ts'

interface Waiting {
  readonly amount: number
  readonly resolve: () => void
  readonly reject: (error: JudgeFailure) => void
}

/**
 * What a request may cost. A call sets aside the most that it can cost before it begins, so that
 * calls side by side cannot pass the limit together; one that does not fit waits for those under way
 * to give back what they did not need. Amounts are in the unit of `priceOf`.
 */
export class Budget {
  readonly #limit: number
  readonly #waiting: Waiting[] = []
  #spent = 0
  #reserved = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Rejects with `judge_budget_exceeded` where the amount does not fit any more. */
  reserve(amount: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ amount, resolve, reject })
      this.#admit()
    })
  }

  /** A call has ended: what it had set aside becomes what it has cost. */
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
