import { setImmediate } from 'node:timers'

/** Milliseconds of requests in one turn of the event loop. */
const SLICE_MS = 2

/**
 * Starts requests in slices, in turns by organization.
 *
 * Node handles all results of one poll of the sockets in one turn of the event loop, and accepts
 * one connection per turn. Three hundred simultaneous requests of one organization would therefore
 * delay every other organization, and every new connection.
 */
export class RequestTurns {
  readonly #now: () => number
  /** By organization; the order of the keys is the order of the turns. */
  readonly #waiting = new Map<string, (() => void)[]>()
  /** Start of the slice of this turn; null before its first request. */
  #began: number | null = null

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /**
   * Returns undefined if a request of the organization may start at once; else a promise that
   * resolves when it may.
   */
  take(owner: string): Promise<void> | undefined {
    if (this.#began === null) {
      this.#begin()
      return undefined
    }
    if (this.#waiting.size === 0 && !this.#isOver()) return undefined
    return new Promise((resolve) => {
      const own = this.#waiting.get(owner)
      if (own) own.push(resolve)
      else this.#waiting.set(owner, [resolve])
    })
  }

  #begin(): void {
    this.#began = this.#now()
    setImmediate(() => {
      this.#began = null
      if (this.#waiting.size > 0) void this.#slice()
    })
  }

  async #slice(): Promise<void> {
    this.#begin()
    do {
      this.#next()
      // The request that was resumed runs first.
      await Promise.resolve()
    } while (this.#waiting.size > 0 && !this.#isOver())
  }

  #next(): void {
    for (const [owner, own] of this.#waiting) {
      this.#waiting.delete(owner)
      own.shift()?.()
      if (own.length > 0) this.#waiting.set(owner, own)
      return
    }
  }

  #isOver(): boolean {
    return this.#began === null || this.#now() - this.#began >= SLICE_MS
  }
}
