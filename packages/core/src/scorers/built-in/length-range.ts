import { z } from 'zod'
import { textOf } from '../fields.ts'
import { countCodePoints } from '../measure/code-points.ts'
import { defineScorer } from '../scorer.ts'

const Bound = z.int().min(0)
const Params = z
  .strictObject({
    unit: z.enum(['chars', 'words', 'lines']).default('chars'),
    min: Bound.optional(),
    max: Bound.optional(),
  })
  .refine(({ min, max }) => min !== undefined || max !== undefined, {
    path: ['max'],
    message: 'give min, max or both',
  })
  .refine(({ min = 0, max = Number.POSITIVE_INFINITY }) => min <= max, {
    path: ['min'],
    message: 'must not be greater than max',
  })

/** 1 if the length of the output is within the limits. */
export const lengthRange = defineScorer({
  name: 'length_range',
  version: '1',
  description:
    'Length of output in characters (code points), words or lines lies between min and max',
  edition: 'community',
  defaultThreshold: 1,
  params: Params,
  fields: { output: 'required' },
  inlineLength: 65_536,
  score: ({ output }, { unit, min = 0, max = Number.POSITIVE_INFINITY }) => {
    const length = lengthOf(textOf(output), unit)
    const fault = length < min ? `fewer than ${min}` : length > max ? `more than ${max}` : null
    return {
      score: fault === null ? 1 : 0,
      reason: `output has ${length} ${unit}${fault === null ? '' : `, ${fault}`}`,
      metadata: { length },
    }
  },
})

const WORD = /\P{White_Space}+/gu
const LINE_BREAK = /\r\n|\n|\r/g

function lengthOf(text: string, unit: 'chars' | 'words' | 'lines'): number {
  if (unit === 'chars') return countCodePoints(text)
  if (unit === 'words') return text.match(WORD)?.length ?? 0
  if (text === '') return 0
  // A trailing line break does not start another line.
  return (text.match(LINE_BREAK)?.length ?? 0) + (/[\r\n]$/.test(text) ? 0 : 1)
}
