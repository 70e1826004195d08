import { setImmediate } from 'node:timers'
import ipaddr from 'ipaddr.js'
import { Limiter, rateLimited } from '../base/limiter.ts'
import type { Use } from '../base/limiter.ts'

type LimitHeaders = Readonly<Record<string, string>>
export type RateLimit = ReturnType<typeof createRateLimit>
export type FailedKeys = ReturnType<typeof createFailedKeys>

/** Allows `perSecond` requests per key; headers as in draft-ietf-httpapi-ratelimit-headers. */
export function createRateLimit(perSecond: number) {
  const limiter = new Limiter(1)
  const policy = `"key";q=${perSecond};w=1`
  const headers = ({ used, seconds }: Use): LimitHeaders => ({
    'RateLimit-Policy': policy,
    RateLimit: `"key";r=${Math.max(0, perSecond - used)};t=${seconds}`,
  })
  const allowed = (use: Use, uses = use.used): LimitHeaders => {
    if (uses <= perSecond) return headers(use)
    const message = `A key may send at most ${perSecond} requests per second`
    throw rateLimited(use, message, headers(use))
  }
  return {
    /** Returns the headers; throws `rate_limited` if the key has used up its current second. */
    take: async (keyId: string): Promise<LimitHeaders> => allowed(await limiter.count(keyId)),

    /**
     * Charges `more` additional requests. A key within its limit may exceed it once and then waits as
     * long as that many requests would have taken; a key above its limit is rejected as by `take`.
     */
    async charge(keyId: string, more: number): Promise<LimitHeaders> {
      const use = await limiter.count(keyId, more)
      const { used } = use
      const given = allowed(use, used - more)
      if (used <= perSecond) return given
      return headers(await limiter.hold(keyId, used, Math.ceil(used / perSecond)))
    },
  }
}

/** Returns the network of an address: the hosts of an IPv6 /64 network count as one. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}

/** Allows `perMinute` invalid keys per network. */
export function createFailedKeys(perMinute: number) {
  const limiter = new Limiter(60)
  const message = `One address may send at most ${perMinute} invalid keys per minute`
  /** Throws `rate_limited` if the network of the address has sent too many of them. */
  return { take: (address: string) => limiter.take(networkOf(address), perMinute, message) }
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
