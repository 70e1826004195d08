import type { ResultToScore } from '@remit/contract'
import { z } from 'zod'
import { textOf } from '../fields.ts'
import { defineScorer } from '../scorer.ts'
import { normalizeText, textParams } from '../text.ts'
import { Needles, holds, needlesOf, wholeWord } from './needles.ts'

const Params = z.strictObject({
  ...textParams,
  values: Needles.optional().describe('Texts to look for instead of expected'),
  whole_word: wholeWord,
})
type Params = z.output<typeof Params>

/** 1 if the output contains any of several texts. */
export const containsAny = defineScorer({
  name: 'contains_any',
  version: '1',
  description: 'Output contains any one of the texts of expected (or the parameter values)',
  edition: 'community',
  defaultThreshold: 1,
  params: Params,
  fields: { output: 'required', expected: 'optional' },
  inlineLength: 8_192,
  score: (result, params) => {
    const found = search(result, params)
    const first = found.indexOf(true)
    return {
      score: first >= 0 ? 1 : 0,
      reason:
        first >= 0
          ? `output contains one of the ${found.length} texts`
          : `output contains none of the ${found.length} texts`,
      metadata: first >= 0 ? { alternative: first } : {},
    }
  },
})

/** The share of several texts that the output contains. */
export const containsAll = defineScorer({
  name: 'contains_all',
  version: '1',
  description: 'Share of the texts of expected (or the parameter values) that output contains',
  edition: 'community',
  defaultThreshold: 1,
  params: Params,
  fields: { output: 'required', expected: 'optional' },
  inlineLength: 8_192,
  score: (result, params) => {
    const found = search(result, params)
    const missing = found.flatMap((is, index) => (is ? [] : [index]))
    return {
      score: (found.length - missing.length) / found.length,
      reason: `output contains ${found.length - missing.length} of ${found.length} texts`,
      metadata: { missing },
    }
  },
})

function search(result: ResultToScore, params: Params): boolean[] {
  const text = normalizeText(textOf(result.output), params)
  return needlesOf(result, params.values, params).map((needle) =>
    holds(text, needle, params.whole_word),
  )
}
