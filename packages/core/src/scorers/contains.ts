import type { ResultToScore } from '@remit/contract'
import { z } from 'zod'
import { textOf } from './fields.ts'
import { occurrences } from './find.ts'
import { Unscorable, defineScorer } from './scorer.ts'
import { normalizeText, textParams } from './text.ts'

const Params = z.strictObject({
  ...textParams,
  value: z
    .union([z.string(), z.array(z.string()).min(1).max(1000)])
    .optional()
    .describe('What to look for, in place of expected; of a list any one'),
  position: z.enum(['any', 'start', 'end']).default('any'),
  whole_word: z
    .boolean()
    .default(false)
    .describe('No letter, mark, digit or underscore next to what was found'),
})
type Params = z.output<typeof Params>

/** 1 when the output holds the text looked for; of several, any one. */
export const contains = defineScorer({
  name: 'contains',
  version: '1',
  description: 'Output contains expected (or the parameter value); of a list, any one of them',
  edition: 'community',
  defaultThreshold: 1,
  params: Params,
  fields: { output: 'required', expected: 'optional' },
  score: (result, params) => {
    const text = normalizeText(textOf(result.output), params)
    const needles = needlesOf(result, params)
    const found = needles.findIndex((needle) => isFound(text, needle, params))
    const where = params.position === 'any' ? 'contains' : `${params.position}s with`
    const what = needles.length === 1 ? 'the text' : `any of the ${needles.length} texts`
    return {
      score: found >= 0 ? 1 : 0,
      reason:
        found >= 0 ? `output ${where} ${what}` : `output ${where} none of what was looked for`,
      metadata: found >= 0 && needles.length > 1 ? { alternative: found } : {},
    }
  },
})

function needlesOf(result: ResultToScore, params: Params): string[] {
  const wanted: unknown = params.value ?? result.expected
  if (wanted === undefined || wanted === null) {
    throw new Unscorable('missing_field', 'expected is missing', 'expected')
  }
  const needles = (Array.isArray(wanted) ? (wanted as unknown[]) : [wanted]).map((needle) =>
    needle === null ? '' : normalizeText(textOf(needle), params),
  )
  if (needles.length === 0 || needles.includes('')) {
    throw new Unscorable('invalid_expected', 'there is no text to look for', 'expected')
  }
  return needles
}

function isFound(text: string, needle: string, { position, whole_word }: Params): boolean {
  const stands = (at: number) => !whole_word || isWhole(text, at, at + needle.length)
  if (position === 'start') return text.startsWith(needle) && stands(0)
  if (position === 'end') return text.endsWith(needle) && stands(text.length - needle.length)
  for (const at of occurrences(text, needle)) if (stands(at)) return true
  return false
}

const WORD_CHARACTER = /^[\p{L}\p{M}\p{N}_]$/u

function isWhole(text: string, start: number, end: number): boolean {
  // A pair of surrogates is one character: look at both units where the first alone is not enough.
  const before = /[\s\S]$/u.exec(text.slice(Math.max(0, start - 2), start))?.[0] ?? ''
  const after = text.slice(end, end + 2).match(/^[\s\S]/u)?.[0] ?? ''
  return !WORD_CHARACTER.test(before) && !WORD_CHARACTER.test(after)
}
