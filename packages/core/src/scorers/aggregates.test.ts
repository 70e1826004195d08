import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aggregate } from './run.ts'

type Expected = number | null | [number, number]

interface Example {
  readonly id: string
  readonly scores: readonly (number | null)[]
  readonly threshold: number
  readonly expected: Readonly<Record<string, Expected>>
}

const examples = JSON.parse(
  readFileSync(new URL('aggregate-examples.json', import.meta.url), 'utf8'),
) as Example[]

const close = (expected: Expected): unknown => {
  if (expected === null) return null
  if (typeof expected === 'number') return expect.closeTo(expected, 9)
  const [low, high] = expected
  return expect.objectContaining({ level: 0.95, low: close(low), high: close(high) })
}

const results = (scores: readonly (number | null)[], threshold: number) =>
  scores.map((score) => ({ score, passed: score === null ? null : score >= threshold }))

describe('the aggregate of a batch', () => {
  it.each(examples)('agrees with an independent statistics library: $id', (example) => {
    const found = aggregate(results(example.scores, example.threshold), null)

    for (const [name, expected] of Object.entries(example.expected)) {
      expect(found[name as keyof typeof found], name).toEqual(close(expected))
    }
  })

  it('says nothing about a batch in which nothing could be scored', () => {
    const { count, scored, errors, errors_by_code, metadata, ...statistics } = aggregate(
      results([null, null], 0.5),
      null,
    )

    expect({ count, scored, errors }).toEqual({ count: 2, scored: 0, errors: 2 })
    expect([errors_by_code, metadata]).toEqual([{}, {}])
    expect(Object.values(statistics).every((value) => value === null)).toBe(true)
  })

  it('keeps every interval inside 0 to 1 and around what it is an interval of', () => {
    const scores = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 })
    fc.assert(
      fc.property(scores, (batch) => {
        const { pass_rate, pass_rate_ci, mean, mean_ci } = aggregate(results(batch, 0.5), null)
        expect(pass_rate_ci!.low).toBeGreaterThanOrEqual(0)
        expect(pass_rate_ci!.high).toBeLessThanOrEqual(1)
        expect(pass_rate_ci!.low).toBeLessThanOrEqual(pass_rate! + 1e-12)
        expect(pass_rate_ci!.high).toBeGreaterThanOrEqual(pass_rate! - 1e-12)
        const { low, high } = mean_ci ?? { low: mean!, high: mean! }
        expect(low).toBeGreaterThanOrEqual(0)
        expect(high).toBeLessThanOrEqual(1)
        expect(low).toBeLessThanOrEqual(mean! + 1e-12)
        expect(high).toBeGreaterThanOrEqual(mean! - 1e-12)
      }),
    )
  })
})
