import { z } from 'zod'
import type { PureScorer, ScoreOutcome } from '../scorer.ts'
import { overlap, total, wordGrams } from '../measure/grams.ts'
import { longestCommon } from '../measure/longest-common.ts'
import { Numbering } from '../measure/numbering.ts'
import { asciiWords, unicodeWords } from '../measure/words.ts'
import { defineScorer } from '../scorer.ts'
import { bestText } from './graded-text.ts'

const Params = z.strictObject({
  metric: z.enum(['fmeasure', 'precision', 'recall']).default('fmeasure'),
  tokenizer: z
    .enum(['ascii', 'unicode'])
    .default('ascii')
    .describe('ascii: words of a-z and 0-9, as the reference; unicode: of any script'),
})
type Params = z.output<typeof Params>

/** Counts of the common units, and of those of each text. */
interface Counts {
  readonly common: number
  readonly output: number
  readonly expected: number
}
type Count = (output: readonly string[], expected: readonly string[]) => Counts

const grams =
  (order: number): Count =>
  (output, expected) => {
    const a = wordGrams(output, order)
    const b = wordGrams(expected, order)
    return { common: overlap(a, b), output: total(a), expected: total(b) }
  }

const subsequence: Count = (output, expected) => {
  const numbering = new Numbering()
  const a = numbering.all(output)
  const b = numbering.all(expected)
  const common = longestCommon(a, b, numbering.size)
  return { common, output: a.length, expected: b.length }
}

/** Same as google-research/rouge without its stemmer. */
const rouge = (name: string, what: string, count: Count): PureScorer =>
  defineScorer({
    name,
    version: '1',
    description: `ROUGE of output against expected over ${what}, without stemming`,
    edition: 'community',
    defaultThreshold: 0.5,
    params: Params,
    fields: { output: 'required', expected: 'required' },
    inlineLength: 8_192,
    score: (result, params) =>
      bestText(result, (output, expected) => compare(output, expected, params, count)),
  })

export const rouge1 = rouge('rouge_1', 'single words', grams(1))
export const rouge2 = rouge('rouge_2', 'pairs of words', grams(2))
export const rougeL = rouge('rouge_l', 'the longest common sequence of words', subsequence)

function compare(output: string, expected: string, params: Params, count: Count): ScoreOutcome {
  const words = params.tokenizer === 'ascii' ? asciiWords : unicodeWords
  const [a, b] = [words(output), words(expected)]
  const counts = count(a, b)
  const precision = counts.common / Math.max(1, counts.output)
  const recall = counts.common / Math.max(1, counts.expected)
  const fmeasure = counts.common === 0 ? 0 : (2 * precision * recall) / (precision + recall)
  const of = { fmeasure, precision, recall }
  const blind =
    params.tokenizer === 'ascii' &&
    ((a.length === 0 && output !== '') || (b.length === 0 && expected !== ''))
  return {
    score: of[params.metric],
    reason: params.metric,
    graded: true,
    ...(blind && {
      note: 'a text has no word of ASCII letters; tokenizer "unicode" reads any script',
    }),
    metadata: of,
  }
}
