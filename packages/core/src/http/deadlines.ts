import { fail } from '../errors.ts'

/** Bounds how long a request may take, without a timer for each. */
export class Deadlines {
  readonly #open = new Set<{ until: number; expire: () => void }>()
  readonly #limitMs: number
  readonly #timer: NodeJS.Timeout

  constructor(limitMs = 30_000) {
    this.#limitMs = limitMs
    this.#timer = setInterval(() => this.#sweep(), 1_000).unref()
  }

  /** The promise, or `deadline_exceeded` (503) once the limit has passed. */
  guard<T>(work: Promise<T>, limitMs: number = this.#limitMs): Promise<T> {
    return new Promise((resolve, reject) => {
      const entry = {
        until: performance.now() + limitMs,
        expire: () =>
          reject(
            fail(
              'deadline_exceeded',
              'The request passed its deadline; whether it was carried out is not known',
              {
                headers: { 'Retry-After': '1' },
              },
            ),
          ),
      }
      this.#open.add(entry)
      // Not through `finally`, which makes two promises more for every request.
      const over = () => void this.#open.delete(entry)
      void work.then(over, over)
      work.then(resolve, reject)
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #sweep(): void {
    const now = performance.now()
    for (const entry of this.#open) {
      if (entry.until < now) {
        this.#open.delete(entry)
        entry.expire()
      }
    }
  }
}
