import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { fail } from '../base/errors.ts'
import type { Failure } from '../base/errors.ts'

/** Counts the requests of a key; gives the `RateLimit` headers of the answer. */
export interface RateLimit {
  /** Throws `rate_limited` when the key has used up its second. */
  take(keyId: string): Promise<LimitHeaders>
  /**
   * Counts `more` requests that came within one that was taken. A key that is within its second may go
   * beyond it once, and then waits as long as that many requests would have taken; one that is not is
   * refused as by `take`.
   */
  charge(keyId: string, more: number): Promise<LimitHeaders>
}

type LimitHeaders = Readonly<Record<string, string>>

/** `perSecond` requests a key; headers as in draft-ietf-httpapi-ratelimit-headers. */
export function createRateLimit(perSecond: number): RateLimit {
  const limiter = new RateLimiterMemory({ points: perSecond, duration: 1 })
  const policy = `"key";q=${perSecond};w=1`
  const headers = (state: RateLimiterRes) => ({
    'RateLimit-Policy': policy,
    RateLimit: `"key";r=${state.remainingPoints};t=${Math.ceil(state.msBeforeNext / 1000)}`,
  })
  const refusal = (state: RateLimiterRes): Failure =>
    fail('rate_limited', `At most ${perSecond} requests a second`, {
      headers: {
        ...headers(state),
        'Retry-After': String(Math.max(1, Math.ceil(state.msBeforeNext / 1000))),
      },
    })
  return {
    async take(keyId) {
      try {
        return headers(await limiter.consume(keyId))
      } catch (state) {
        throw state instanceof RateLimiterRes ? refusal(state) : state
      }
    },
    async charge(keyId, more) {
      const state = await limiter.penalty(keyId, more)
      const { consumedPoints: used } = state
      if (used - more > perSecond) throw refusal(state)
      if (used <= perSecond) return headers(state)
      return headers(await limiter.block(keyId, Math.ceil(used / perSecond)))
    },
  }
}
