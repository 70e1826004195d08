import { z } from 'zod'
import { checkTextLength } from '../fields.ts'
import { editsOf, similarity } from '../measure/edit-distance.ts'
import { defineScorer } from '../scorer.ts'
import { normalizeText, textParams } from '../text.ts'
import { bestText } from './graded-text.ts'

/**
 * The time is proportional to the product of both lengths: 50,000 characters take a third of a
 * second.
 */
const MAX_EDIT_LENGTH = 50_000

/** The share of the longer text that does not need an edit. */
export const levenshtein = defineScorer({
  name: 'levenshtein',
  version: '1',
  description: 'Similarity of output and expected by edit distance: 1 - distance / longer length',
  edition: 'community',
  defaultThreshold: 0.5,
  params: z.strictObject(textParams),
  fields: { output: 'required', expected: 'required' },
  maxTextLength: MAX_EDIT_LENGTH,
  inlineLength: 1_024,
  score: (result, params) =>
    bestText(result, (output, expected) => {
      const a = normalizeText(output, params)
      const b = normalizeText(expected, params)
      // Folding and NFKC can make a text many times longer.
      checkTextLength('output', a, MAX_EDIT_LENGTH)
      checkTextLength('expected', b, MAX_EDIT_LENGTH)
      const edits = editsOf(a, b)
      return {
        score: similarity(edits),
        reason: 'similarity',
        graded: true,
        metadata: { distance: edits.distance },
      }
    }),
})
