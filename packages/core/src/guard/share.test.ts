import fc from 'fast-check'
import { expect, it } from 'vitest'
import { roundShare } from './detection.ts'

it('orders shares as they are ordered, and tells high ones apart', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(share, share, (one, other) => {
      const [low, high] = [Math.min(one, other), Math.max(one, other)]

      expect(roundShare(low)).toBeLessThanOrEqual(roundShare(high))
    }),
  )
  const high = Array.from({ length: 60 }, (_, i) => roundShare(1 - 0.01 * 0.7 ** i))
  expect(new Set(high).size).toBe(60)
})

it('has four decimals, more only beyond 0.99, and is never 1', () => {
  expect(roundShare(0.123_456)).toBe(0.1235)
  expect(roundShare(0.999_912_34)).toBe(0.999_912_3)
  expect(roundShare(1 - 1e-16)).toBeLessThan(1)
})
