import { fail } from '../base/errors.ts'

export interface TurnLimits {
  /** Maximum concurrent work. */
  readonly size: number
  /** Maximum concurrent work of one organization. Default: `size` - 1. */
  readonly each?: number
  /** Maximum waiting work of one organization, and of all. Default: unlimited. */
  readonly waiting?: { readonly each: number; readonly total: number }
  /** Milliseconds after which waiting work is rejected. Default: never. */
  readonly patienceMs?: number
}

interface Waiting {
  readonly owner: string
  readonly start: () => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout | undefined
}

const RETRY_AFTER_SECONDS = '5'

/**
 * Queues heavy work: a limited number runs concurrently, and no organization can occupy all places.
 * Work starts in order of arrival, except that an organization at its limit waits for itself, and
 * that no organization starts twice in a row while another one waits.
 */
export class Turns {
  readonly #limits: TurnLimits
  readonly #running = new Map<string, number>()
  readonly #waiting: Waiting[] = []
  #total = 0
  /** Owner of the work that started last. */
  #latest: string | null = null

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /**
   * Runs `work` when it is its turn, or immediately if a place is free. Rejects with `jobs_busy`
   * (429, `Retry-After`) if too much is waiting.
   */
  run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const attempt = async () => {
      this.#count(owner, 1)
      try {
        return await work()
      } finally {
        this.#count(owner, -1)
        this.#next()
      }
    }
    if (this.#hasPlace(owner)) return attempt()
    if (this.#isFull(owner)) return Promise.reject(busy())
    return new Promise((resolve, reject) => this.#wait(owner, () => resolve(attempt()), reject))
  }

  /** Throws `jobs_busy` if `run` would reject now, before any preparation. */
  admit(owner: string): void {
    if (!this.#hasPlace(owner) && this.#isFull(owner)) throw busy()
  }

  /** Like `run` for work that ends elsewhere: resolves with a function that ends it. */
  begin(owner: string): Promise<() => void> {
    return new Promise((resolve, reject) => {
      this.run(owner, () => new Promise<void>((end) => resolve(end))).catch(reject)
    })
  }

  /** Rejects the waiting work. */
  close(error: Error): void {
    for (const { reject, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer)
      reject(error)
    }
  }

  #wait(owner: string, start: () => void, reject: (error: Error) => void): void {
    const { patienceMs } = this.#limits
    const giveUp = () => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
      reject(busy())
    }
    const timer = patienceMs === undefined ? undefined : setTimeout(giveUp, patienceMs).unref()
    const waiting = { owner, start, reject, timer }
    this.#waiting.push(waiting)
  }

  #next(): void {
    const ready = this.#waiting.filter(({ owner }) => this.#hasPlace(owner))
    const next = ready.find(({ owner }) => owner !== this.#latest) ?? ready[0]
    if (!next) return
    this.#waiting.splice(this.#waiting.indexOf(next), 1)
    clearTimeout(next.timer)
    next.start()
  }

  #hasPlace(owner: string): boolean {
    const { size, each = Math.max(1, size - 1) } = this.#limits
    return this.#total < size && (this.#running.get(owner) ?? 0) < each
  }

  #isFull(owner: string): boolean {
    const { waiting } = this.#limits
    if (!waiting) return false
    const own = this.#waiting.filter((one) => one.owner === owner).length
    return own >= waiting.each || this.#waiting.length >= waiting.total
  }

  #count(owner: string, step: 1 | -1): void {
    if (step > 0) this.#latest = owner
    this.#total += step
    const now = (this.#running.get(owner) ?? 0) + step
    if (now > 0) this.#running.set(owner, now)
    else this.#running.delete(owner)
  }
}

const busy = () => fail('jobs_busy', undefined, { headers: { 'Retry-After': RETRY_AFTER_SECONDS } })
