import { z } from 'zod'
import { alternativesOf, bestOf } from '../fields.ts'
import { jsonEqual } from '../json-equal.ts'
import type { ScoreOutcome } from '../scorer.ts'
import { defineScorer } from '../scorer.ts'
import { normalizeSquad, normalizeText, textParams } from '../text.ts'

const Params = z.strictObject({
  ...textParams,
  normalize: z
    .enum(['none', 'squad'])
    .default('none')
    .describe('squad: lower case, no ASCII punctuation, no articles, single spaces'),
})
type Params = z.output<typeof Params>

/** 1 when output and expected are the same text, or the same JSON value if one is not text. */
export const exactMatch = defineScorer({
  name: 'exact_match',
  version: '1',
  description:
    'Output equals expected: as text if both are text (the parameters apply), else as JSON values, with JSON text parsed and key order ignored',
  edition: 'community',
  defaultThreshold: 1,
  params: Params,
  fields: { output: 'required', expected: 'required' },
  inlineLength: 8_192,
  score: (result, params) =>
    bestOf(alternativesOf(result), (expected) => compare(result.output, expected, params)),
})

function compare(output: unknown, expected: unknown, params: Params): ScoreOutcome {
  if (typeof output === 'string' && typeof expected === 'string') {
    const form = (text: string) => {
      const normalized = normalizeText(text, params)
      return params.normalize === 'squad' ? normalizeSquad(normalized) : normalized
    }
    return verdict(form(output) === form(expected), 'text')
  }
  return verdict(jsonEqual(jsonValue(output), jsonValue(expected)), 'json')
}

const verdict = (equal: boolean, compared: 'text' | 'json'): ScoreOutcome => ({
  score: equal ? 1 : 0,
  reason: `output ${equal ? 'equals' : 'differs from'} expected, compared as ${compared}`,
  metadata: { compared },
})

/** The value of a JSON text; undefined, which equals no JSON value, when it is none. */
function jsonValue(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}
