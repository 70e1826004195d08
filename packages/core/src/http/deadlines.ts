import { fail } from '../base/errors.ts'

interface Open {
  readonly until: number
  readonly expire: () => void
  /** Its index among the open ones. */
  at: number
}

/** Limits the duration of requests without one timer per request. */
export class Deadlines {
  /**
   * Not a `Set`: finished requests were retained until the next full garbage collection by old
   * tables of a set that grew or shrank.
   */
  readonly #open: Open[] = []
  readonly #limitMs: number
  readonly #timer: NodeJS.Timeout

  constructor(limitMs = 30_000) {
    this.#limitMs = limitMs
    this.#timer = setInterval(() => this.#sweep(), 1_000).unref()
  }

  /** Number of requests in progress. */
  get size(): number {
    return this.#open.length
  }

  /** Returns the result of the promise, or throws `deadline_exceeded` (503) after the limit. */
  guard<T>(work: Promise<T>, limitMs: number = this.#limitMs): Promise<T> {
    return new Promise((resolve, reject) => {
      const entry = {
        until: performance.now() + limitMs,
        expire: () => reject(overdue()),
        at: this.#open.length,
      }
      this.#open.push(entry)
      // Not `finally`, which creates two more promises per request.
      work.then(
        (result) => {
          this.#forget(entry)
          return resolve(result)
        },
        (error: Error) => {
          this.#forget(entry)
          reject(error)
        },
      )
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Moves the last entry to its place; a removed entry no longer has one. */
  #forget(entry: Open): void {
    if (this.#open[entry.at] !== entry) return
    const last = this.#open.pop()
    if (!last || last === entry) return
    this.#open[entry.at] = last
    last.at = entry.at
  }

  #sweep(): void {
    const now = performance.now()
    for (const entry of this.#open.filter(({ until }) => until < now)) {
      this.#forget(entry)
      entry.expire()
    }
  }
}

const overdue = () =>
  fail(
    'deadline_exceeded',
    'The request exceeded its deadline; it may or may not have been carried out',
    { headers: { 'Retry-After': '1' } },
  )
