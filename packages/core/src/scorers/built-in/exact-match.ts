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

/** 1 if output and expected are the same text, or the same JSON value if one is not text. */
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
    Array.isArray(result.expected)
      ? bestOf(alternativesOf(result), (expected) => compare(result.output, expected, params))
      : compare(result.output, result.expected, params),
})

function compare(output: unknown, expected: unknown, params: Params): ScoreOutcome {
  if (typeof output === 'string' && typeof expected === 'string')
    return formOf(output, params) === formOf(expected, params) ? EQUAL_TEXT : OTHER_TEXT
  return jsonEqual(jsonValue(output), jsonValue(expected)) ? EQUAL_JSON : OTHER_JSON
}

function formOf(text: string, params: Params): string {
  const form = normalizeText(text, params)
  return params.normalize === 'squad' ? normalizeSquad(form) : form
}

const verdict = (equal: boolean, compared: 'text' | 'json'): ScoreOutcome => ({
  score: equal ? 1 : 0,
  reason: `output ${equal ? 'equals' : 'differs from'} expected, compared as ${compared}`,
  metadata: { compared },
})
const EQUAL_TEXT = verdict(true, 'text')
const OTHER_TEXT = verdict(false, 'text')
const EQUAL_JSON = verdict(true, 'json')
const OTHER_JSON = verdict(false, 'json')

/** Returns the value of a JSON text; undefined, which equals no JSON value, for other texts. */
function jsonValue(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}
