import { setImmediate } from 'node:timers'
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
