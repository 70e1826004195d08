import { describe, expect, it } from 'vitest'
import { costOf } from './model.ts'

const PAGE = 2_500
const document = (...direct: number[]) => ({
  length: direct.length * PAGE,
  levels: { direct: direct.toSorted((a, b) => a - b), embedded: [] },
})
const cost = (raw: number, ...others: number[]) => costOf(document(raw, ...others), 'direct', raw)

describe('what a document takes from the score of a part', () => {
  it('is more where the other parts are suspicious as well', () => {
    expect(cost(1, -3.5, -3.6, -3.7)).toBeGreaterThan(cost(1, -4.2, -4.3, -4.4))
    expect(cost(1, -4.2, -4.3, -4.4)).toBeGreaterThan(cost(1, -4.6, -4.7, -4.8))
  })

  it('leaves the part itself and a single other one out of account', () => {
    expect(cost(5, -4.3, -4.3, -4.3)).toBe(cost(-5, -4.3, -4.3, -4.3))
    expect(cost(1, -4.3, -4.3, 4)).toBe(cost(1, -4.3, -4.3, -4.3))
  })

  it('is limited: suspicious padding is no free pass, and calm padding no doom', () => {
    expect(cost(1, 9, 9, 9) - cost(1, -4.3, -4.3, -4.3)).toBeCloseTo(1.2, 9)
    expect(cost(1, -4.3, -4.3, -4.3) - cost(1, -9, -9, -9)).toBeCloseTo(1, 9)
  })

  it('grows with the length from 2,000 to 5,000, and is nothing for one part', () => {
    const calm = (count: number) => cost(1, ...Array.from({ length: count }, () => -4.3))

    expect(costOf({ ...document(1), length: 2_000 }, 'direct', 1)).toBe(0)
    expect(calm(2)).toBeGreaterThan(costOf({ ...document(1), length: 3_000 }, 'direct', 1))
    expect(calm(20)).toBe(calm(2))
  })

  it('holds for what is decoded in it by the median of all its parts', () => {
    const { length } = document(-4.3, -4.3, -4.3)

    expect(costOf(document(-4.3, -4.3, -4.3), 'direct')).toBeCloseTo(
      0.35 * Math.log(Math.min(length, 5_000) / 2_000),
      9,
    )
  })
})
