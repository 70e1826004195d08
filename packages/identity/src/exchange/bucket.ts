import { upTo } from '@remit/core/base'
import { LRUCache } from 'lru-cache'

const MAX_NAMES = 10_000

/**
 * Token buckets by name: a burst of `perSecond`, refilled continuously. ADR 25 compares them with the
 * fixed windows of the HTTP rate limit.
 */
export class Buckets {
  readonly #perSecond: number
  readonly #byName = new LRUCache<string, { left: number; at: number }>(upTo(MAX_NAMES))

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Returns whether another call is within the rate at `now` (milliseconds). */
  take(name: string, now: number): boolean {
    const { left, at } = this.#byName.get(name) ?? { left: this.#perSecond, at: now }
    const filled = Math.min(
      this.#perSecond,
      left + (Math.max(0, now - at) * this.#perSecond) / 1000,
    )
    this.#byName.set(name, { left: filled >= 1 ? filled - 1 : filled, at: Math.max(at, now) })
    return filled >= 1
  }
}
