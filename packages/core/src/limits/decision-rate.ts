import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { LRUCache } from 'lru-cache'
import { fail } from '../base/errors.ts'

/** Limits the decisions a second of organizations, in this process. */
export class DecisionRate {
  /** By limit; operators change limits, so there is no natural bound. */
  readonly #limiters = new LRUCache<number, RateLimiterMemory>({ max: 1_000 })

  /** Throws `rate_limited` if the organization has used up the current second. */
  async take(orgId: string, perSecond: number): Promise<void> {
    try {
      await this.#limiter(perSecond).consume(orgId)
    } catch (state) {
      if (!(state instanceof RateLimiterRes)) throw state
      throw fail(
        'rate_limited',
        `The organization may request at most ${perSecond} decisions per second`,
        { headers: { 'Retry-After': String(Math.max(1, Math.ceil(state.msBeforeNext / 1000))) } },
      )
    }
  }

  #limiter(perSecond: number): RateLimiterMemory {
    const known = this.#limiters.get(perSecond)
    if (known) return known
    const limiter = new RateLimiterMemory({ points: perSecond, duration: 1 })
    this.#limiters.set(perSecond, limiter)
    return limiter
  }
}
