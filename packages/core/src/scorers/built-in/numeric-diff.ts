import { z } from 'zod'
import { bestOf } from '../fields.ts'
import { relativeNearness } from '../measure/nearness.ts'
import { firstOrLastNumber, wholeNumberText } from '../measure/numbers.ts'
import { Unscorable, defineScorer } from '../scorer.ts'
import type { ScoreOutcome } from '../scorer.ts'

const Tolerance = z.number().min(0)
const Params = z
  .strictObject({
    mode: z
      .enum(['relative', 'tolerance'])
      .default('relative')
      .describe('relative: 1 - |e - o| / (|e| + |o|); tolerance: close or not'),
    abs_tol: Tolerance.optional().describe('Default: 0'),
    rel_tol: Tolerance.optional().describe('Fraction of the larger number. Default: 1e-9'),
    extract: z
      .enum(['none', 'first', 'last'])
      .default('none')
      .describe('Number of the text to compare; none: the whole text is the number'),
  })
  .refine(
    ({ mode, abs_tol, rel_tol }) =>
      mode === 'tolerance' || (abs_tol === undefined && rel_tol === undefined),
    { path: ['mode'], message: 'tolerances require the mode tolerance' },
  )
type Params = z.output<typeof Params>

/** Closeness of the output, or of a number in it, to the expected number. */
export const numericDiff = defineScorer({
  name: 'numeric_diff',
  version: '1',
  description: 'Closeness of two numbers, by their relative difference or within a tolerance',
  edition: 'community',
  defaultThreshold: 0.5,
  params: Params,
  fields: { output: 'required', expected: 'required' },
  inlineLength: 65_536,
  score: ({ output, expected }, params) => {
    // A list can only be a list of alternatives: no list is a number.
    const alternatives = Array.isArray(expected) ? (expected as unknown[]) : [expected]
    const numbers = alternatives.map((value) => numberOf(value, params.extract))
    if (numbers.length === 0 || numbers.includes(undefined))
      throw new Unscorable('invalid_expected', 'expected is not a number', 'expected')
    const own = numberOf(output, params.extract)
    if (own === undefined) return { score: 0, reason: 'output is not a number' }
    return bestOf(numbers as number[], (number) => compare(own, number, params))
  },
})

function numberOf(value: unknown, extract: Params['extract']): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return undefined
  const number = extract === 'none' ? wholeNumberText(value) : firstOrLastNumber(value, extract)
  return number !== undefined && Number.isFinite(number) ? number : undefined
}

function compare(output: number, expected: number, params: Params): ScoreOutcome {
  if (params.mode === 'tolerance') {
    const { abs_tol: absolute = 0, rel_tol: relative = 1e-9 } = params
    const close = isClose(output, expected, relative, absolute)
    return {
      score: close ? 1 : 0,
      reason: `output is ${close ? 'within' : 'outside'} the tolerance`,
    }
  }
  return { score: relativeNearness(output, expected), reason: 'nearness', graded: true }
}

/** Same as Python's `math.isclose`. */
function isClose(a: number, b: number, relative: number, absolute: number): boolean {
  return (
    a === b || Math.abs(a - b) <= Math.max(relative * Math.max(Math.abs(a), Math.abs(b)), absolute)
  )
}
