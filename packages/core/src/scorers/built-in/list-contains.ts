import { z } from 'zod'
import { canonicalJson } from '@remit/contract/json'
import { extractJson } from '../json-text.ts'
import { assign } from '../measure/assignment.ts'
import { editsOf, similarity } from '../measure/edit-distance.ts'
import { MAX_PAIRED } from '../measure/json-diff.ts'
import { Unscorable, defineScorer } from '../scorer.ts'
import type { FieldName } from '../scorer.ts'

const Params = z.strictObject({
  similarity: z.enum(['levenshtein', 'exact']).default('levenshtein'),
  allow_extra: z.boolean().default(false).describe('Additional items do not lower the score'),
})

/** Best pairing of the items of two lists, regardless of their order. */
export const listContains = defineScorer({
  name: 'list_contains',
  version: '1',
  description: 'Items of expected found among those of output, by the best pairing',
  edition: 'community',
  defaultThreshold: 0.5,
  params: Params,
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
