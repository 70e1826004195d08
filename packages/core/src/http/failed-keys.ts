import ipaddr from 'ipaddr.js'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { fail } from '../base/errors.ts'

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
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 })
  return {
    async take(address) {
      try {
        await limiter.consume(networkOf(address))
      } catch (state) {
        if (!(state instanceof RateLimiterRes)) throw state
        throw fail(
          'rate_limited',
          `One address may send at most ${perMinute} invalid keys per minute`,
          {
            headers: { 'Retry-After': String(Math.max(1, Math.ceil(state.msBeforeNext / 1000))) },
          },
        )
      }
    },
  }
}

function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}
