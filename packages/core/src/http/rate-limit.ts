import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { fail } from '../base/errors.ts'
import type { Failure } from '../base/errors.ts'

/** Counts the requests of a key and returns the `RateLimit` headers of the response. */
export interface RateLimit {
  /** Throws `rate_limited` if the key has used up its requests of the current second. */
  take(keyId: string): Promise<LimitHeaders>
  /**
   * Charges `more` additional requests. A key within its limit may exceed it once and then waits as
   * long as that many requests would have taken; a key above its limit is rejected as by `take`.
   */
  charge(keyId: string, more: number): Promise<LimitHeaders>
}

type LimitHeaders = Readonly<Record<string, string>>

/** Allows `perSecond` requests per key; headers as in draft-ietf-httpapi-ratelimit-headers. */
export function createRateLimit(perSecond: number): RateLimit {
  const limiter = new RateLimiterMemory({ points: perSecond, duration: 1 })
  const policy = `"key";q=${perSecond};w=1`
  const headers = (state: RateLimiterRes) => ({
    'RateLimit-Policy': policy,
    RateLimit: `"key";r=${state.remainingPoints};t=${Math.ceil(state.msBeforeNext / 1000)}`,
  })
  const refusal = (state: RateLimiterRes): Failure =>
    fail('rate_limited', `A key may send at most ${perSecond} requests per second`, {
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
