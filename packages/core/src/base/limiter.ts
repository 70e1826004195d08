import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { RateLimiterRes } from 'rate-limiter-flexible'
import { fail } from './errors.ts'
import type { Failure } from './errors.ts'

/** The uses of a key in its current window. */
export interface Use {
  readonly used: number
  /** Seconds until the window ends, rounded up. */
  readonly seconds: number
}

/** Counts the uses of keys, such as networks, in windows of time; in this process. */
export class Limiter {
  readonly #windows: RateLimiterMemory

  /** The length of a window, which starts with the first use. */
  constructor(seconds: number) {
    this.#windows = new RateLimiterMemory({ points: 0, duration: seconds })
  }

  /** Counts uses, and returns those of the current window with them. */
  async count(key: string, uses = 1): Promise<Use> {
    return useOf(await this.#windows.penalty(key, uses))
  }

  /** Counts a use; throws `rate_limited` with `message` if the window has more than `limit`. */
  async take(key: string, limit: number, message: string): Promise<void> {
    const use = await this.count(key)
    if (use.used > limit) throw rateLimited(use, message)
  }

  /** Replaces the window by one of this length that has these uses. */
  async hold(key: string, used: number, seconds: number): Promise<Use> {
    return useOf(await this.#windows.set(key, used, seconds))
  }
}

const useOf = ({ consumedPoints, msBeforeNext }: RateLimiterRes): Use => ({
  used: consumedPoints,
  seconds: Math.ceil(msBeforeNext / 1000),
})

/** The error `rate_limited`, with `Retry-After` at the end of the window. */
export const rateLimited = (
  { seconds }: Use,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Failure =>
  fail('rate_limited', message, {
    headers: { ...headers, 'Retry-After': String(Math.max(1, seconds)) },
  })
