import { describe, expect, it } from 'vitest'
import { amountOf } from '../base/seen-context.ts'

describe('amountOf', () => {
  it('is missing if no member contains it', () => {
    for (const context of [undefined, {}, { amount: null }, { price: 3 }, { currency: 'EUR' }]) {
      expect(amountOf(context)).toBe('missing')
    }
  })

  it('reads own properties only', () => {
    expect(amountOf(Object.create({ amount_usd: 5 }) as Record<string, unknown>)).toBe('missing')
  })

  it('is invalid where two amounts are given that differ', () => {
    expect(amountOf({ amount_usd: 0, amount: 1_000_000 })).toBe('invalid')
    expect(amountOf({ amount_usd: 5, amount: 6, currency: 'USD' })).toBe('invalid')
    expect(amountOf({ amount_usd: 5, amount: '5' })).toBe('invalid')
  })

  it('takes two amounts that are equal, or of which one is null', () => {
    const five = { micro: 5_000_000 }
    expect(amountOf({ amount_usd: 5, amount: 5, currency: 'USD' })).toEqual(five)
    expect(amountOf({ amount_usd: 5, amount: null })).toEqual(five)
    expect(amountOf({ amount_usd: null, amount: 5 })).toEqual(five)
  })

  it('is exact for every amount with 6 decimals', () => {
    for (const [usd, micro] of [
      [0.000001, 1],
      [0.1, 100_000],
      [1.1, 1_100_000],
      [64.1, 64_100_000],
      [0.57, 570_000],
      [999_999_999.999999, 999_999_999_999_999],
      [1e9, 1e15],
    ] as const) {
      expect(amountOf({ amount_usd: usd })).toEqual({ micro })
    }
  })

  it.each([Number.NaN, Infinity, -1, 1e9 + 1, 0.0000001, '1', 1n, true, [], {}])(
    'refuses %s',
    (value) => {
      expect(amountOf({ amount_usd: value })).toBe('invalid')
    },
  )
})
