import { describe, expect, it } from 'vitest'
import { costOf } from './standing-out.ts'

const PAGE = 2_500
const document = (...direct: number[]) => ({
  length: direct.length * PAGE,
  levels: { direct: direct.toSorted((a, b) => a - b), embedded: [] },
})
const cost = (raw: number, ...others: number[]) => costOf(document(raw, ...others), 'direct', raw)

describe('what a document takes from the score of a part', () => {
  it('is more where the other parts are suspicious as well', () => {
    expect(cost(1, -2.5, -2.6, -2.7)).toBeGreaterThan(cost(1, -3.2, -3.3, -3.4))
    expect(cost(1, -3.2, -3.3, -3.4)).toBeGreaterThan(cost(1, -4.1, -4.2, -4.3))
  })

  it('leaves the part itself and a single other one out of account', () => {
    expect(cost(5, -3.3, -3.3, -3.3)).toBe(cost(-5, -3.3, -3.3, -3.3))
    expect(cost(1, -3.3, -3.3, 4)).toBe(cost(1, -3.3, -3.3, -3.3))
  })

  it('is limited: suspicious padding is no free pass, and calm padding no doom', () => {
    expect(cost(1, 9, 9, 9) - cost(1, -3.3, -3.3, -3.3)).toBe(1)
    expect(cost(1, -3.3, -3.3, -3.3) - cost(1, -9, -9, -9)).toBeCloseTo(0.6, 9)
  })

  it('grows with the length from 2,000 on, and is nothing for one part of that', () => {
    const calm = (count: number) => cost(1, ...Array.from({ length: count }, () => -3.3))

    expect(costOf({ ...document(1), length: 2_000 }, 'direct', 1)).toBe(0)
    expect(calm(20)).toBeGreaterThan(calm(4))
  })

  it('holds for what is decoded in it by the median of all its parts', () => {
    const { length } = document(-3.3, -3.3, -3.3)

    expect(costOf(document(-3.3, -3.3, -3.3), 'direct')).toBeCloseTo(
      0.25 * Math.log(length / 2_000),
      9,
    )
  })
})
