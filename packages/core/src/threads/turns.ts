import { fail } from '../base/errors.ts'

export interface TurnLimits {
  /** Pieces of work at once. */
  readonly size: number
  /** Of them, those of one organization; one less than all unless given. */
  readonly each?: number
  /** Pieces that may wait: of one organization, and of all. Unlimited unless given. */
  readonly waiting?: { readonly each: number; readonly total: number }
  /** Milliseconds after which what still waits is refused; never unless given. */
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
 * Heavy work takes turns: a few pieces at once, and no organization takes the places of the others. Work
 * begins in the order in which it came, except that an organization with its share waits for itself.
 */
export class Turns {
  readonly #limits: TurnLimits
  readonly #running = new Map<string, number>()
  readonly #waiting: Waiting[] = []
  #total = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /**
   * Runs `work` when it is its turn; at once where there is a place. Rejects with `jobs_busy` (429,
   * `Retry-After`) where too much waits already.
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

  /** Throws `jobs_busy` where `run` would reject now: before anything is done for what is refused. */
  admit(owner: string): void {
    if (!this.#hasPlace(owner) && this.#isFull(owner)) throw busy()
  }

  /** The same for work that ends elsewhere: resolves when it is its turn, with what ends it. */
  begin(owner: string): Promise<() => void> {
    return new Promise((resolve, reject) => {
      this.run(owner, () => new Promise<void>((end) => resolve(end))).catch(reject)
    })
  }

  /** Rejects what waits. */
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
    const at = this.#waiting.findIndex(({ owner }) => this.#hasPlace(owner))
    const [next] = at < 0 ? [] : this.#waiting.splice(at, 1)
    if (!next) return
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
    this.#total += step
    const now = (this.#running.get(owner) ?? 0) + step
    if (now > 0) this.#running.set(owner, now)
    else this.#running.delete(owner)
  }
}

const busy = () => fail('jobs_busy', undefined, { headers: { 'Retry-After': RETRY_AFTER_SECONDS } })
