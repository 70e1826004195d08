import { fail } from '../base/errors.ts'

interface Open {
  readonly until: number
  readonly expire: () => void
  /** Its place among the open ones. */
  at: number
}

/** Bounds how long a request may take, without a timer for each. */
export class Deadlines {
  /**
   * Not a `Set`: finished requests were seen to live on until the next full garbage collection, held by
   * tables that the engine leaves behind when a set grows or shrinks.
   */
  readonly #open: Open[] = []
  readonly #limitMs: number
  readonly #timer: NodeJS.Timeout

  constructor(limitMs = 30_000) {
    this.#limitMs = limitMs
    this.#timer = setInterval(() => this.#sweep(), 1_000).unref()
  }

  /** Requests under way. */
  get size(): number {
    return this.#open.length
  }

  /** The promise, or `deadline_exceeded` (503) once the limit has passed. */
  guard<T>(work: Promise<T>, limitMs: number = this.#limitMs): Promise<T> {
    return new Promise((resolve, reject) => {
      const entry = {
        until: performance.now() + limitMs,
        expire: () => reject(overdue()),
        at: this.#open.length,
      }
      this.#open.push(entry)
      const settling =
        <V>(settle: (value: V) => void) =>
        (value: V): void => {
          this.#forget(entry)
          settle(value)
        }
      // Not through `finally`, which makes two promises more for every request.
      work.then(settling(resolve), settling(reject))
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** The last one takes its place; who has been forgotten already has none. */
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
    'The request passed its deadline; whether it was carried out is not known',
    { headers: { 'Retry-After': '1' } },
  )
