import { describe, expect, it } from 'vitest'
import { pauseBefore } from './client.ts'
import { isTransient } from './post.ts'
import { mostUsage, priceOf, TokenCount, usageReport, usdOf } from './usage.ts'

const PRICES = { input: 1.1, output: 4.4, cached_input: 0.275 }

describe('what tokens cost', () => {
  it.each([
    [{ input: 10, output: 0, cached: 0 }, 0.000011],
    [{ input: 0, output: 1_000_000, cached: 0 }, 4.4],
    [{ input: 1000, output: 0, cached: 1000 }, 0.000275],
    [{ input: 3, output: 0, cached: 0 }, 0.000004],
    [{ input: 0, output: 0, cached: 0 }, 0],
  ])('%j', (usage, usd) => {
    expect(usdOf(priceOf(usage, PRICES))).toBe(usd)
  })

  it('is rounded up once, not for each call', () => {
    const attempts = Array.from({ length: 1000 }, () => ({ input: 1, output: 0, cached: 0 }))

    expect(usageReport([{ attempts }], PRICES).cost_usd).toBe(0.0011)
  })

  it('is unknown without prices', () => {
    expect(usageReport([], undefined).cost_usd).toBeNull()
  })

  it.each([-1, 0.5, Number.NaN, Infinity, 1e8, '5', null, undefined, {}])(
    'does not come from a count of %s',
    (count) => {
      expect(TokenCount.parse(count)).toBeNull()
    },
  )

  it('is never more than the estimate for text in any script', () => {
    const bytes = Buffer.byteLength('価格はいくらですか')

    expect(mostUsage(bytes, 100)).toEqual({ input: 9, output: 100, cached: 0 })
  })
})

describe('trying again', () => {
  it.each([408, 409, 429, 500, 502, 503, 529])('helps after %i', (status) => {
    expect(isTransient(status)).toBe(true)
  })

  it.each([301, 400, 401, 403, 404, 413, 422])('does not help after %i', (status) => {
    expect(isTransient(status)).toBe(false)
  })

  it('waits a random share of a pause that doubles up to eight seconds', () => {
    const pauses = [0, 1, 2, 3, 4, 5].map((retry) => pauseBefore(retry, null, 1e6, 1))

    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 8000])
    expect(pauseBefore(2, null, 1e6, 0.25)).toBe(500)
  })

  it('waits for the requested delay, up to 30 seconds', () => {
    expect(pauseBefore(0, 30_000, 1e6, 0)).toBe(30_000)
    expect(pauseBefore(0, 30_001, 1e6, 0)).toBeNull()
    expect(pauseBefore(0, 0, 1e6, 0.5)).toBe(0)
  })

  it('never waits past the deadline', () => {
    expect(pauseBefore(0, 1000, 1000, 0)).toBeNull()
    expect(pauseBefore(0, 1000, 1001, 0)).toBe(1000)
    expect(pauseBefore(3, null, 3000, 1)).toBeNull()
    expect(pauseBefore(0, 0, -5, 0)).toBeNull()
  })
})
