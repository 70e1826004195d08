import { z } from 'zod'
import { textOf } from '../fields.ts'
import { defineScorer } from '../scorer.ts'
import { normalizeText, textParams } from '../text.ts'
import { Needles, holds, needlesOf, standsAlone, wholeWord } from './needles.ts'

const Params = z.strictObject({
  ...textParams,
  value: z
    .union([z.string(), Needles])
    .optional()
    .describe('Text to look for instead of expected; with a list, any one of them'),
  position: z.enum(['any', 'start', 'end']).default('any'),
  whole_word: wholeWord,
})
type Params = z.output<typeof Params>

/** 1 if the output contains the text, or any of several texts. */
export const contains = defineScorer({
  name: 'contains',
  version: '1',
  description: 'Output contains expected (or the parameter value); of a list, any one of them',
  edition: 'community',
  defaultThreshold: 1,
  params: Params,
  fields: { output: 'required', expected: 'optional' },
  inlineLength: 8_192,
  score: (result, params) => {
    const text = normalizeText(textOf(result.output), params)
    const needles = needlesOf(result, params.value, params)
    const found = needles.findIndex((needle) => isFound(text, needle, params))
    const where = params.position === 'any' ? 'contains' : `${params.position}s with`
    const what = needles.length === 1 ? 'the text' : `any of the ${needles.length} texts`
    return {
      score: found >= 0 ? 1 : 0,
      reason: found >= 0 ? `output ${where} ${what}` : `output ${where} none of the texts`,
      metadata: found >= 0 && needles.length > 1 ? { alternative: found } : {},
    }
  },
})

function isFound(text: string, needle: string, { position, whole_word }: Params): boolean {
  if (position === 'any') return holds(text, needle, whole_word)
  const at = position === 'start' ? 0 : text.length - needle.length
  const stands = position === 'start' ? text.startsWith(needle) : text.endsWith(needle)
  return stands && (!whole_word || standsAlone(text, at, at + needle.length))
}
