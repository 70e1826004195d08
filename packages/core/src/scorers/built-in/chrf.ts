import { z } from 'zod'
import { alternativesOf, bestOf, textOf } from '../fields.ts'
import { chrf as chrfOf, chrfCounts, chrfGrams } from '../measure/chrf.ts'
import type { ChrfOptions } from '../measure/chrf.ts'
import { defineScorer } from '../scorer.ts'

const Params = z.strictObject({
  char_order: z.int().min(1).max(10).default(6),
  word_order: z.int().min(0).max(4).default(0).describe('2 is chrF++'),
  beta: z.number().min(0).max(100).default(2).describe('Weight of recall relative to precision'),
  lowercase: z.boolean().default(false),
  whitespace: z.boolean().default(false).describe('White space counts as characters'),
})
type Params = z.output<typeof Params>

/** chrF as in sacrebleu, for a sentence and for the corpus. The best reference counts. */
export const chrf = defineScorer({
  name: 'chrf',
  version: '1',
  description: 'chrF of output against one or more references, as sacrebleu computes it, 0 to 1',
  edition: 'community',
  defaultThreshold: 0.5,
  params: Params,
  fields: { output: 'required', expected: 'required' },
  inlineLength: 2_048,
  score: (result, params) => {
    const options = optionsOf(params)
    const own = chrfGrams(textOf(result.output), options)
    return bestOf(alternativesOf(result), (reference) => {
      const tally = chrfCounts(own, chrfGrams(textOf(reference), options))
      return { score: chrfOf(tally, params.beta), reason: 'chrF', graded: true, tally }
    })
  },
  corpusScore: (counts, { beta }) => chrfOf(counts, beta),
})

const optionsOf = (params: Params): ChrfOptions => ({
  charOrder: params.char_order,
  wordOrder: params.word_order,
  beta: params.beta,
  lowercase: params.lowercase,
  whitespace: params.whitespace,
})
