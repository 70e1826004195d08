import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { retryAt } from './deliveries.ts'

const HOUR = 3_600_000

/** Seconds after each failure until the next attempt, when every attempt fails at once. */
function waits(random: number): number[] {
  const all: number[] = []
  let now = 0
  for (let attempts = 1; ; attempts++) {
    const next = retryAt(attempts, 0, now, random)
    if (next === null) return all
    all.push((next - now) / 1000)
    now = next
  }
}

describe('retryAt', () => {
  it('waits three times as long after each failure, 3 hours at most, for 24 hours', () => {
    const middle = waits(0.5)

    expect(middle.slice(0, 9)).toEqual([5, 15, 45, 135, 405, 1215, 3645, 10_800, 10_800])
    expect(middle.reduce((sum, wait) => sum + wait, 0)).toBe(24 * 3600)
  })

  it('is a quarter earlier or later by chance', () => {
    expect([retryAt(1, 0, 0, 0), retryAt(1, 0, 0, 1)]).toEqual([3_750, 6_250])
  })

  it('makes its last attempt when the 24 hours end, and none after', () => {
    expect(retryAt(12, 0, 23 * HOUR, 0.5)).toBe(24 * HOUR)
    expect(retryAt(12, 0, 24 * HOUR, 0.5)).toBeNull()
    expect(retryAt(1, 0, 48 * HOUR, 0.5)).toBeNull()
  })

  it('always lies ahead, and never beyond the end, however often it has failed', () => {
    const inputs = [
      fc.integer({ min: 1, max: 5000 }),
      fc.integer({ min: 0, max: 30 * HOUR }),
      fc.double({ min: 0, max: 1, noNaN: true }),
    ] as const
    fc.assert(
      fc.property(...inputs, (attempts, now, random) => {
        const next = retryAt(attempts, 0, now, random)
        return next === null ? now >= 24 * HOUR : now < next && next <= 24 * HOUR
      }),
    )
  })
})
