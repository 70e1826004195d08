import ipaddr from 'ipaddr.js'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

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
