import { z } from 'zod'
import { checkTextLength } from '../fields.ts'
import { codePointsOf } from '../measure/code-points.ts'
import { jaroWinkler as measure } from '../measure/jaro-winkler.ts'
import { defineScorer } from '../scorer.ts'
import { normalizeText, textParams } from '../text.ts'
import { bestText } from './graded-text.ts'

const MAX_LENGTH = 10_000

const Params = z.strictObject({
  ...textParams,
  prefix_weight: z
    .number()
    .min(0)
    .max(0.25)
    .default(0.1)
    .describe('Bonus for each of the first 4 characters that are equal'),
})

/** For names and short texts: common characters near each other, and a common prefix. */
export const jaroWinkler = defineScorer({
  name: 'jaro_winkler',
  version: '1',
  description: 'Jaro-Winkler similarity of output and expected, made for names',
  edition: 'community',
  defaultThreshold: 0.5,
  params: Params,
  fields: { output: 'required', expected: 'required' },
  maxTextLength: MAX_LENGTH,
  inlineLength: 1_024,
  score: (result, params) =>
    bestText(result, (output, expected) => {
      const a = normalizeText(output, params)
      const b = normalizeText(expected, params)
      checkTextLength('output', a, MAX_LENGTH)
      checkTextLength('expected', b, MAX_LENGTH)
      const score = measure(codePointsOf(a), codePointsOf(b), params.prefix_weight)
      return { score, reason: 'similarity', graded: true }
    }),
})
