import { fail } from '../base/errors.ts'

export interface TurnLimits {
  readonly size: number
  /** Maximum concurrent work of one owner, also by the free places. Default: `size` - 1. */
  readonly each?: number | ((free: number) => number)
  /** Maximum waiting work of one owner, and of all. Default: unlimited. */
  readonly waiting?: { readonly each: number; readonly total: number }
  /** Milliseconds after which waiting work is rejected. Default: never. */
  readonly patienceMs?: number
}

/**
 * Calls of other servers that a request waits for, such as the first fetch of an issuer's keys: each may
 * take some seconds and a connection.
 */
export const OUTBOUND_CALLS: TurnLimits = {
  size: Infinity,
  each: 4,
  waiting: { each: 16, total: 256 },
}

interface Waiting<Owner> {
  readonly owner: Owner
  readonly start: () => void
  readonly reject: (error: Error) => void
  /** Ends the timer and the listener of the wait. */
  readonly clear: () => void
}

const RETRY_AFTER_SECONDS = '5'

/**
 * Queues heavy work: a limited number runs concurrently, and no owner, usually an organization, can
 * occupy all places. Work starts in order of arrival, except that an owner at its limit waits for
 * itself, and that no owner starts twice in a row while another one waits.
 */
export class Turns<Owner = string> {
  /** Maximum concurrent work; a change takes effect when running work ends. */
  size: number
  readonly #limits: TurnLimits
  readonly #running = new Map<Owner, number>()
  readonly #waiting: Waiting<Owner>[] = []
  #total = 0
  /** Owner of the work that started last. */
  #latest: Owner | null = null

  constructor(limits: TurnLimits) {
    this.size = limits.size
    this.#limits = limits
  }

  /**
   * Runs `work` when it is its turn, or immediately if a place is free. Rejects with `jobs_busy`
   * (429, `Retry-After`) if too much is waiting, and with the reason of `signal` if that aborts
   * before the start.
   */
  run<T>(owner: Owner, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const attempt = async () => {
      this.#count(owner, 1)
      try {
        return await work()
      } finally {
        this.#count(owner, -1)
        this.#next()
      }
    }
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const start = () => resolve(attempt())
      if (this.#hasPlace(owner)) start()
      else if (this.#refuses(owner)) reject(busy())
      else this.#wait(owner, start, reject, signal)
    })
  }

  /** Throws `jobs_busy` if `run` would reject now, before any preparation. */
  admit(owner: Owner): void {
    if (!this.#hasPlace(owner) && this.#refuses(owner)) throw busy()
  }

  /** Like `run` for work that ends elsewhere: resolves with a function that ends it. */
  begin(owner: Owner): Promise<() => void> {
    return new Promise((resolve, reject) => {
      this.run(owner, () => new Promise<void>((end) => resolve(end))).catch(reject)
    })
  }

  get isFull(): boolean {
    return this.#total >= this.size
  }

  full(): Owner[] {
    return [...this.#running.keys()].filter((owner) => !this.#hasPlace(owner))
  }

  /** Selects from `waiting`, in order, the work that would start immediately. */
  choose<Work>(waiting: readonly Work[], ownerOf: (work: Work) => Owner): Work[] {
    const running = new Map(this.#running)
    let total = this.#total
    return waiting.filter((work) => {
      const owner = ownerOf(work)
      const own = running.get(owner) ?? 0
      if (!this.#allows(own, total)) return false
      running.set(owner, own + 1)
      total++
      return true
    })
  }

  /** Rejects the waiting work. */
  close(error: Error): void {
    for (const { reject, clear } of this.#waiting.splice(0)) {
      clear()
      reject(error)
    }
  }

  #wait(
    owner: Owner,
    start: () => void,
    reject: (error: Error) => void,
    signal: AbortSignal | undefined,
  ): void {
    const giveUp = (reason: Error) => {
      this.#leave(waiting)
      reject(reason)
    }
    const { patienceMs } = this.#limits
    const timer =
      patienceMs === undefined ? undefined : setTimeout(() => giveUp(busy()), patienceMs).unref()
    const onAbort = () => giveUp(signal?.reason as Error)
    signal?.addEventListener('abort', onAbort)
    const clear = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    const waiting = { owner, start, reject, clear }
    this.#waiting.push(waiting)
  }

  #leave(waiting: Waiting<Owner>): void {
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
    waiting.clear()
  }

  /** Starts what has a place: more than one after `size` has grown. */
  #next(): void {
    for (;;) {
      const ready = this.#waiting.filter(({ owner }) => this.#hasPlace(owner))
      const next = ready.find(({ owner }) => owner !== this.#latest) ?? ready[0]
      if (!next) return
      this.#leave(next)
      next.start()
    }
  }

  #hasPlace(owner: Owner): boolean {
    return this.#allows(this.#running.get(owner) ?? 0, this.#total)
  }

  #allows(own: number, total: number): boolean {
    const { each = Math.max(1, this.size - 1) } = this.#limits
    return total < this.size && own < (typeof each === 'number' ? each : each(this.size - total))
  }

  #refuses(owner: Owner): boolean {
    const { waiting } = this.#limits
    if (!waiting) return false
    const own = this.#waiting.filter((one) => one.owner === owner).length
    return own >= waiting.each || this.#waiting.length >= waiting.total
  }

  #count(owner: Owner, step: 1 | -1): void {
    if (step > 0) this.#latest = owner
    this.#total += step
    const now = (this.#running.get(owner) ?? 0) + step
    if (now > 0) this.#running.set(owner, now)
    else this.#running.delete(owner)
  }
}

const busy = () => fail('jobs_busy', undefined, { headers: { 'Retry-After': RETRY_AFTER_SECONDS } })
