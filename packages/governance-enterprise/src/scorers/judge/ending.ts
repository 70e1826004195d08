import type { JudgeRun } from './client.ts'
import { CostBudget } from './budget.ts'
import type { DayLimit } from './day-limit.ts'
import { JudgeFailure } from './failure.ts'
import type { JudgeTask } from './task.ts'
import { PARTS_OF_USD } from './usage.ts'

/** The end of a run before all verdicts, and its cost limit. */
export class RunEnding implements JudgeRun, Disposable {
  readonly budget: CostBudget | null
  readonly day: DayLimit | null
  readonly #controller = new AbortController()
  readonly #until: number
  readonly #timer: NodeJS.Timeout
  readonly #client: AbortSignal
  readonly #onGone = () =>
    this.stop(new JudgeFailure('judge_unavailable', 'the request was cancelled'))

  constructor({ deadlineMs, maxCostUsd }: JudgeTask, client: AbortSignal, day: DayLimit | null) {
    this.day = day
    this.budget = maxCostUsd === null ? null : new CostBudget(maxCostUsd * PARTS_OF_USD)
    this.#until = performance.now() + deadlineMs
    this.#timer = setTimeout(
      () => this.stop(new JudgeFailure('judge_timeout', "the request's deadline has passed")),
      deadlineMs,
    )
    this.#client = client
    if (client.aborted) this.#onGone()
    client.addEventListener('abort', this.#onGone, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  left(): number {
    return this.#until - performance.now()
  }

  stop(failure: JudgeFailure): void {
    this.#controller.abort(failure)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#client.removeEventListener('abort', this.#onGone)
  }
}
