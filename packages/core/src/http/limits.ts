import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import ipaddr from 'ipaddr.js'
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

/** Counts attempts by a key, such as a network, in this process. */
export class Attempts {
  readonly #limiter: RateLimiterMemory

  constructor(points: number, seconds: number) {
    this.#limiter = new RateLimiterMemory({ points, duration: seconds })
  }

  /** Counts an attempt; returns the seconds to wait if there were too many, else 0. */
  async take(key: string): Promise<number> {
    try {
      await this.#limiter.consume(key)
      return 0
    } catch (state) {
      if (!(state instanceof RateLimiterRes)) throw state
      return Math.max(1, Math.ceil(state.msBeforeNext / 1000))
    }
  }
}

/** Returns the network of an address: the hosts of an IPv6 /64 network count as one. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}

/** Counts the invalid keys of an address. */
export interface FailedKeys {
  /** Throws `rate_limited` if the address has sent too many of them within a minute. */
  take(address: string): Promise<void>
}

/**
 * Allows `perMinute` invalid keys per address; the hosts of an IPv6 /64 network count as one
 * address.
 */
export function createFailedKeys(perMinute: number): FailedKeys {
  const attempts = new Attempts(perMinute, 60)
  return {
    async take(address) {
      const seconds = await attempts.take(networkOf(address))
      if (seconds === 0) return
      throw fail(
        'rate_limited',
        `One address may send at most ${perMinute} invalid keys per minute`,
        { headers: { 'Retry-After': String(seconds) } },
      )
    },
  }
}
