import { fail } from '../base/errors.ts'
import { Attempts, networkOf } from './attempts.ts'

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
