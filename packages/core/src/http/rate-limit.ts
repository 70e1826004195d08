import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { fail } from '../errors.ts'

/** Counts the requests of a key; gives the `RateLimit` headers of the answer. */
export interface RateLimit {
  /** Throws `rate_limited` when the key has used up its second. */
  take(keyId: string): Promise<Readonly<Record<string, string>>>
}

/** `perSecond` requests a key; headers as in draft-ietf-httpapi-ratelimit-headers. */
export function createRateLimit(perSecond: number): RateLimit {
  const limiter = new RateLimiterMemory({ points: perSecond, duration: 1 })
  const policy = `"key";q=${perSecond};w=1`
  const headers = (state: RateLimiterRes) => ({
    'RateLimit-Policy': policy,
    RateLimit: `"key";r=${state.remainingPoints};t=${Math.ceil(state.msBeforeNext / 1000)}`,
  })
  return {
    async take(keyId) {
      try {
        return headers(await limiter.consume(keyId))
      } catch (state) {
        if (!(state instanceof RateLimiterRes)) throw state
        throw fail('rate_limited', `At most ${perSecond} requests a second`, {
          headers: {
            ...headers(state),
            'Retry-After': String(Math.max(1, Math.ceil(state.msBeforeNext / 1000))),
          },
        })
      }
    },
  }
}
