import { z } from 'zod'
import { canonicalJson } from '@remit/contract/json'
import { bestOf } from '../params.ts'
import { relativeNearness, editsOf, similarity } from '../measure/edit-distance.ts'
import { firstOrLastNumber, wholeNumberText } from '../measure/numbers.ts'
import { Unscorable, defineScorer } from '../scorer.ts'
import type { ScoreOutcome, FieldName } from '../scorer.ts'
import { extractJson } from '../text.ts'
import { assign } from '../measure/matching.ts'
import { MAX_PAIRED } from '../measure/json-diff.ts'

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

export const numericDiff = defineScorer({
  name: 'numeric_diff',
  description: 'Closeness of two numbers, by their relative difference or within a tolerance',
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

const ListContainsParams = z.strictObject({
  similarity: z.enum(['levenshtein', 'exact']).default('levenshtein'),
  allow_extra: z.boolean().default(false).describe('Additional items do not lower the score'),
})

export const listContains = defineScorer({
  name: 'list_contains',
  description: 'Items of expected found among those of output, by the best pairing',
  defaultThreshold: 0.5,
  params: ListContainsParams,
  fields: { output: 'required', expected: 'required' },
  maxTextLength: 50_000,
  inlineLength: 1_024,
  score: (result, params) => {
    const expected = itemsOf('expected', result.expected)
    if (!expected) throw new Unscorable('invalid_expected', 'expected is not a list', 'expected')
    const output = itemsOf('output', result.output)
    if (!output) return { score: 0, reason: 'output is not a list' }
    const reason = 'share of items found'
    if (output.length === 0 || expected.length === 0)
      return { score: output.length === expected.length ? 1 : 0, reason, graded: true }
    const worth = likenessOf(output, expected, params.similarity)
    const partners = assign(worth, output.length, expected.length)
    let sum = 0
    for (const [row, column] of partners.entries())
      if (column >= 0) sum += worth[row * expected.length + column] ?? 0
    const whole = params.allow_extra ? expected.length : Math.max(output.length, expected.length)
    const pairs = Array.from(partners, (column) => (column >= 0 ? column : null))
    return { score: sum / whole, reason, graded: true, metadata: { pairs } }
  },
})

/** Returns the similarity of each item of one list to each of the other, row by row. */
function likenessOf(
  rows: readonly string[],
  columns: readonly string[],
  by: 'levenshtein' | 'exact',
): Float64Array {
  const worth = new Float64Array(rows.length * columns.length)
  let at = 0
  for (const row of rows) {
    for (const column of columns) {
      if (row === column) worth[at] = 1
      else if (by === 'levenshtein') worth[at] = similarity(editsOf(row, column))
      at++
    }
  }
  return worth
}

function itemsOf(field: FieldName, given: unknown): string[] | undefined {
  const value = extractJson(field, given, 'none')?.value
  if (!Array.isArray(value)) return undefined
  if (value.length > MAX_PAIRED)
    throw new Unscorable('limit_exceeded', `${field} has more than ${MAX_PAIRED} items`, field)
  return (value as unknown[]).map((item) => (typeof item === 'string' ? item : canonicalJson(item)))
}
