import { parseJson } from '@remit/contract/json'
import { z } from 'zod'
import type { ResultToScore } from '@remit/contract'
import { alternativesOf, bestOf, textOf } from '../params.ts'
import { jsonEqual } from '../json-equal.ts'
import { defineScorer, Unscorable, UnusableParam } from '../scorer.ts'
import type { ScoreOutcome } from '../scorer.ts'
import { normalizeSquad, normalizeText, textParams, holds, standsAlone } from '../text.ts'
import type { TextParams } from '../text.ts'
import { memoize } from '../memoize.ts'
import { compilePattern } from '../../base/pattern.ts'
import { countCodePoints } from '../measure/edit-distance.ts'

const Params = z.strictObject({
  ...textParams,
  normalize: z
    .enum(['none', 'squad'])
    .default('none')
    .describe('squad: lower case, no ASCII punctuation, no articles, single spaces'),
})
type Params = z.output<typeof Params>

export const exactMatch = defineScorer({
  name: 'exact_match',
  description:
    'Output equals expected: as text if both are text (the parameters apply), else as JSON values, with JSON text parsed and key order ignored',
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
const jsonValue = (value: unknown): unknown =>
  typeof value === 'string' ? parseJson(value) : value

const wholeWord = z
  .boolean()
  .default(false)
  .describe('A match must not be next to a letter, mark, digit or underscore')

const Needles = z.array(z.string()).min(1).max(1000)

/**
 * Returns the texts to look for: the parameter, else `expected`. Throws `Unscorable` if there are
 * none.
 */
function needlesOf(
  { expected }: ResultToScore,
  given: string | readonly string[] | undefined,
  params: TextParams,
): string[] {
  const wanted: unknown = given ?? expected
  if (wanted === undefined || wanted === null) {
    throw new Unscorable('missing_field', 'expected is missing', 'expected')
  }
  const needles = (Array.isArray(wanted) ? (wanted as unknown[]) : [wanted]).map((needle) =>
    needle === null ? '' : normalizeText(textOf(needle), params),
  )
  if (needles.length === 0 || needles.includes('')) {
    throw new Unscorable('invalid_expected', 'the list of texts to look for is empty', 'expected')
  }
  return needles
}

const ContainsParams = z.strictObject({
  ...textParams,
  value: z
    .union([z.string(), Needles])
    .optional()
    .describe('Text to look for instead of expected; with a list, any one of them'),
  position: z.enum(['any', 'start', 'end']).default('any'),
  whole_word: wholeWord,
})
type ContainsParams = z.output<typeof ContainsParams>

export const contains = defineScorer({
  name: 'contains',
  description: 'Output contains expected (or the parameter value); of a list, any one of them',
  params: ContainsParams,
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

function isFound(text: string, needle: string, { position, whole_word }: ContainsParams): boolean {
  if (position === 'any') return holds(text, needle, whole_word)
  const at = position === 'start' ? 0 : text.length - needle.length
  const stands = position === 'start' ? text.startsWith(needle) : text.endsWith(needle)
  return stands && (!whole_word || standsAlone(text, at, at + needle.length))
}

const ContainsListsParams = z.strictObject({
  ...textParams,
  values: Needles.optional().describe('Texts to look for instead of expected'),
  whole_word: wholeWord,
})
type ContainsListsParams = z.output<typeof ContainsListsParams>

export const containsAny = defineScorer({
  name: 'contains_any',
  description: 'Output contains any one of the texts of expected (or the parameter values)',
  params: ContainsListsParams,
  fields: { output: 'required', expected: 'optional' },
  inlineLength: 8_192,
  score: (result, params) => {
    const found = search(result, params)
    const first = found.indexOf(true)
    return {
      score: first >= 0 ? 1 : 0,
      reason:
        first >= 0
          ? `output contains one of the ${found.length} texts`
          : `output contains none of the ${found.length} texts`,
      metadata: first >= 0 ? { alternative: first } : {},
    }
  },
})

export const containsAll = defineScorer({
  name: 'contains_all',
  description: 'Share of the texts of expected (or the parameter values) that output contains',
  params: ContainsListsParams,
  fields: { output: 'required', expected: 'optional' },
  inlineLength: 8_192,
  score: (result, params) => {
    const found = search(result, params)
    const missing = found.flatMap((is, index) => (is ? [] : [index]))
    return {
      score: (found.length - missing.length) / found.length,
      reason: `output contains ${found.length - missing.length} of ${found.length} texts`,
      metadata: { missing },
    }
  },
})

function search(result: ResultToScore, params: ContainsListsParams): boolean[] {
  const text = normalizeText(textOf(result.output), params)
  return needlesOf(result, params.values, params).map((needle) =>
    holds(text, needle, params.whole_word),
  )
}

const RegexMatchParams = z.strictObject({
  pattern: z.string().min(1).max(1000).describe('RE2 syntax: no lookaround, no backreferences'),
  flags: z
    .string()
    .regex(/^[ims]{0,3}$/, 'must be of i, m and s')
    .default(''),
  full: z.boolean().default(false).describe('The whole output must match, not a part of it'),
})
type RegexMatchParams = z.output<typeof RegexMatchParams>

// A compiled pattern may use a table of 8 MB.
const KEPT = 8

const patternOf = memoize(KEPT, ({ pattern, flags, full }: RegexMatchParams) => {
  try {
    return compilePattern(pattern, flags, full)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new UnusableParam('pattern', `cannot be used: ${why}`)
  }
})

/** 1 if the output matches a pattern, in linear time. */
export const regexMatch = defineScorer({
  name: 'regex_match',
  description: 'Output matches a pattern in RE2 syntax, somewhere or (full) as a whole',
  params: RegexMatchParams,
  fields: { output: 'required' },
  inlineLength: 0,
  prepare: (params: RegexMatchParams) => patternOf(params),
  score: ({ output }, pattern) => {
    const matches = pattern.test(textOf(output))
    if (matches === undefined) {
      throw new Unscorable(
        'limit_exceeded',
        'output is too long for a pattern this large',
        'output',
      )
    }
    return {
      score: matches ? 1 : 0,
      reason: matches ? 'output matches the pattern' : 'output does not match the pattern',
    }
  },
})

const Amount = z.number().min(0)

const Latency = z
  .strictObject({
    max_ms: Amount,
    target_ms: Amount.optional().describe(
      'Latencies up to this value score 1; above it, the score falls to 0 at max_ms',
    ),
  })
  .refine(({ max_ms, target_ms = -1 }) => target_ms < max_ms, {
    path: ['target_ms'],
    message: 'must be below max_ms',
  })

const Cost = z
  .strictObject({
    max_usd: Amount,
    target_usd: Amount.optional().describe(
      'Costs up to this value score 1; above it, the score falls to 0 at max_usd',
    ),
  })
  .refine(({ max_usd, target_usd = -1 }) => target_usd < max_usd, {
    path: ['target_usd'],
    message: 'must be below max_usd',
  })

export const latency = defineScorer({
  name: 'latency',
  description: 'latency_ms is at most max_ms; with target_ms, graded between both',
  params: Latency,
  fields: { latency_ms: 'required' },
  inlineLength: 65_536,
  score: ({ latency_ms }, { max_ms, target_ms }) =>
    within(latency_ms ?? 0, max_ms, target_ms, 'ms'),
})

export const cost = defineScorer({
  name: 'cost',
  description: 'cost_usd is at most max_usd; with target_usd, graded between both',
  params: Cost,
  fields: { cost_usd: 'required' },
  inlineLength: 65_536,
  score: ({ cost_usd }, { max_usd, target_usd }) =>
    within(cost_usd ?? 0, max_usd, target_usd, 'USD'),
})

function within(
  value: number,
  max: number,
  target: number | undefined,
  unit: string,
): ScoreOutcome {
  if (target !== undefined && value > target) {
    const score = Math.max(0, (max - value) / (max - target))
    return { score, reason: `${value} ${unit} is above the target of ${target} ${unit}` }
  }
  const fits = value <= max
  return {
    score: fits ? 1 : 0,
    reason: `${value} ${unit} is ${fits ? 'at most' : 'above'} ${target ?? max} ${unit}`,
  }
}

const Bound = z.int().min(0)
const LengthRangeParams = z
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

export const lengthRange = defineScorer({
  name: 'length_range',
  description:
    'Length of output in characters (code points), words or lines lies between min and max',
  params: LengthRangeParams,
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
