import { z } from 'zod'
import { overlap, total, wordGrams } from '../measure/grams.ts'
import { splitLikePython } from '../measure/words.ts'
import { defineScorer } from '../scorer.ts'
import type { ScoreOutcome } from '../scorer.ts'
import { normalizeSquad } from '../text.ts'
import { bestText } from './graded-text.ts'

/** The F1 of SQuAD v2 over words with their frequencies. */
export const tokenF1 = defineScorer({
  name: 'token_f1',
  version: '1',
  description: 'F1 of the words of output and expected, normalized as SQuAD v2 does',
  edition: 'community',
  defaultThreshold: 0.5,
  params: z.strictObject({}),
  fields: { output: 'required', expected: 'required' },
  inlineLength: 8_192,
  score: (result) => bestText(result, (output, expected) => f1(wordsOf(output), wordsOf(expected))),
})

const wordsOf = (text: string): string[] => splitLikePython(normalizeSquad(text))

function f1(output: readonly string[], expected: readonly string[]): ScoreOutcome {
  const graded = { reason: 'F1 of words', graded: true }
  // SQuAD's rule for "no answer": an empty answer is right only if the expected one is empty.
  if (output.length === 0 || expected.length === 0)
    return { ...graded, score: output.length === expected.length ? 1 : 0 }
  const a = wordGrams(output, 1)
  const b = wordGrams(expected, 1)
  const common = overlap(a, b)
  const precision = common / total(a)
  const recall = common / total(b)
  const score = common === 0 ? 0 : (2 * precision * recall) / (precision + recall)
  return { ...graded, score, metadata: { precision, recall } }
}
