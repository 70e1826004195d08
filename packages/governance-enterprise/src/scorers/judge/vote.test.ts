import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bothOrders, combine, isQuorum, standing, weightedMean } from './verdict.ts'

const SCORES = { good: 1, fair: 0.5, bad: 0 }
const votes = (...labels: (keyof typeof SCORES)[]) =>
  labels.map((label) => ({ label, score: SCORES[label] }))

describe('the votes of samples', () => {
  it.each([
    ['one', votes('fair'), 0.5, 'fair', 1],
    ['a majority', votes('good', 'bad', 'good'), 1, 'good', 2 / 3],
    ['the most, if not half', votes('good', 'good', 'bad', 'fair', 'good', 'bad'), 1, 'good', 0.5],
    ['a tie of two', votes('good', 'bad'), 0.5, null, 0.5],
    ['a tie of all', votes('good', 'fair', 'bad'), 0.5, null, 1 / 3],
    ['a tie of the leading two', votes('good', 'good', 'fair', 'fair', 'bad'), 0.75, null, 0.4],
  ])('%s', (_, given, score, choice, agreement) => {
    expect(combine(given, 'majority')).toMatchObject({
      score,
      choice,
      agreement,
    })
  })

  it('have a mean and a median', () => {
    const given = votes('good', 'good', 'bad', 'bad', 'bad')

    expect(combine(given, 'mean').score).toBe(0.4)
    expect(combine(given, 'median').score).toBe(0)
    expect(combine(votes('good', 'bad'), 'median').score).toBe(0.5)
  })

  it('do not depend on their order, and stay between the lowest and the highest', () => {
    const label = fc.constantFrom('good' as const, 'fair' as const, 'bad' as const)
    const aggregation = fc.constantFrom('majority' as const, 'mean' as const, 'median' as const)

    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 9 }), aggregation, (labels, how) => {
        const result = combine(votes(...labels), how)
        const reversed = combine(votes(...labels.toReversed()), how)
        const scores = labels.map((one) => SCORES[one])

        expect(reversed.score).toBeCloseTo(result.score, 12)
        expect(reversed.choice).toBe(result.choice)
        expect(result.score).toBeGreaterThanOrEqual(Math.min(...scores))
        expect(result.score).toBeLessThanOrEqual(Math.max(...scores))
        expect(Object.values(result.votes).reduce((a, b) => a + b)).toBe(labels.length)
      }),
    )
  })

  it.each([
    [1, 1, true],
    [0, 1, false],
    [1, 2, false],
    [2, 3, true],
    [4, 9, false],
    [5, 9, true],
  ])('%i of %i are a quorum: %s', (valid, samples, expected) => {
    expect(isQuorum(valid, samples)).toBe(expected)
  })
})

describe('criteria', () => {
  it('weigh as they say', () => {
    const parts = [
      { score: 1, weight: 3 },
      { score: 0, weight: 1 },
    ]

    expect(weightedMean(parts)).toBe(0.75)
  })
})

describe('a pair', () => {
  it.each([
    ['A', 'output_first', 'win'],
    ['B', 'output_first', 'loss'],
    ['A', 'expected_first', 'loss'],
    ['B', 'expected_first', 'win'],
    ['tie', 'output_first', 'tie'],
  ] as const)('%s with %s is a %s for the output', (choice, order, label) => {
    expect(standing(choice, order).label).toBe(label)
  })

  it('has a winner only where both orders have the same', () => {
    const [win, loss, tie] = [
      standing('A', 'output_first'),
      standing('B', 'output_first'),
      standing('tie', null),
    ]

    expect(bothOrders(win, win)).toEqual(win)
    expect(bothOrders(tie, tie)).toEqual(tie)
    for (const [first, second] of [
      [win, loss],
      [loss, win],
      [win, tie],
      [tie, loss],
    ] as const) {
      expect(bothOrders(first, second)).toEqual({ label: 'inconsistent', score: 0.5 })
    }
  })
})
