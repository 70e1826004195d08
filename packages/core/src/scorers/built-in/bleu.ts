import { z } from 'zod'
import { alternativesOf, textOf } from '../fields.ts'
import { bleu as bleuOf, bleuCounts } from '../measure/bleu.ts'
import type { BleuOptions } from '../measure/bleu.ts'
import { bleuTokens } from '../measure/bleu-tokens.ts'
import { defineScorer } from '../scorer.ts'

const Params = z
  .strictObject({
    tokenize: z.enum(['13a', 'intl', 'char', 'none']).default('13a'),
    smooth: z.enum(['exp', 'floor', 'add_k', 'none']).default('exp'),
    smooth_value: z
      .number()
      .min(0)
      .max(1_000)
      .optional()
      .describe('Value for the smoothings floor (default 0.1) and add_k (default 1)'),
    lowercase: z.boolean().default(false),
    max_order: z.int().min(1).max(8).default(4).describe('Maximum n-gram order'),
  })
  .refine(
    ({ smooth, smooth_value }) =>
      smooth_value === undefined || smooth === 'floor' || smooth === 'add_k',
    { path: ['smooth_value'], message: 'belongs to the smoothings floor and add_k' },
  )
type Params = z.output<typeof Params>

const DEFAULT_VALUES = { exp: 0, none: 0, floor: 0.1, add_k: 1 }

/** BLEU as in sacrebleu, for a sentence and for the corpus. Alternatives are references. */
export const bleu = defineScorer({
  name: 'bleu',
  version: '1',
  description: 'BLEU of output against one or more references, as sacrebleu computes it, 0 to 1',
  edition: 'community',
  defaultThreshold: 0.5,
  params: Params,
  fields: { output: 'required', expected: 'required' },
  inlineLength: 4_096,
  score: (result, params) => {
    const tokens = (value: unknown) => {
      const text = textOf(value)
      return bleuTokens(params.lowercase ? text.toLowerCase() : text, params.tokenize)
    }
    const references = alternativesOf(result).map(tokens)
    const counts = bleuCounts(tokens(result.output), references, params.max_order)
    const [length, reference] = counts
    return {
      score: bleuOf(counts, optionsOf(params, true)),
      reason: 'BLEU',
      graded: true,
      metadata: { length, reference_length: reference },
      tally: counts,
    }
  },
  corpusScore: (counts, params) => bleuOf(counts, optionsOf(params, false)),
})

const optionsOf = (params: Params, effectiveOrder: boolean): BleuOptions => ({
  smooth: params.smooth,
  smoothValue: params.smooth_value ?? DEFAULT_VALUES[params.smooth],
  effectiveOrder,
})
