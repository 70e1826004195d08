import { z } from 'zod'
import { Extract, extractJson } from '../json-text.ts'
import { jsonLikeness } from '../measure/json-diff.ts'
import type { JsonDiffOptions } from '../measure/json-diff.ts'
import { Unscorable, defineScorer } from '../scorer.ts'
import type { FieldName } from '../scorer.ts'

const Params = z.strictObject({
  array_mode: z.enum(['ordered', 'unordered']).default('ordered'),
  string_mode: z.enum(['levenshtein', 'exact']).default('levenshtein'),
  number_mode: z.enum(['relative', 'exact']).default('relative'),
  ignore_keys: z.array(z.string()).max(1000).default([]).describe('Names to ignore, at any depth'),
  extract: Extract,
  compat: z
    .enum(['none', 'autoevals'])
    .default('none')
    .describe(
      'autoevals: JSON text inside is parsed, and values of different types are compared as text',
    ),
})
type Params = z.output<typeof Params>

/** Similarity of two JSON values, part by part. */
export const jsonDiff = defineScorer({
  name: 'json_diff',
  version: '1',
  description: 'Similarity of output and expected as JSON values, part by part',
  edition: 'community',
  defaultThreshold: 0.5,
  params: Params,
  fields: { output: 'present', expected: 'present' },
  inlineLength: 2_048,
  prepare: (params: Params) => ({ options: optionsOf(params), extract: params.extract }),
  score: ({ output, expected }, { options, extract }) => ({
    score: jsonLikeness(
      valueOf('output', output, extract),
      valueOf('expected', expected, extract),
      options,
    ),
    reason: 'likeness',
    graded: true,
  }),
})

/** Replaces a text that is a JSON object or array by its value. */
function valueOf(field: FieldName, given: unknown, extract: Extract): unknown {
  const read = extractJson(field, given, extract)
  return typeof read?.value === 'object' && read.value !== null ? read.value : given
}

const optionsOf = (params: Params): JsonDiffOptions => ({
  arrays: params.array_mode,
  strings: params.string_mode,
  numbers: params.number_mode,
  ignored: new Set(params.ignore_keys),
  autoevals: params.compat === 'autoevals',
  limit: (what) => {
    throw new Unscorable('limit_exceeded', what)
  },
})
