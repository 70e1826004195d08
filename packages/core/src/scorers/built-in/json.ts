import { z } from 'zod'
import { Extract, extractJson } from '../text.ts'
import { defineScorer, Unscorable, UnusableParam } from '../scorer.ts'
import type { FieldName } from '../scorer.ts'
import { memoize } from '../memoize.ts'
import { compileSchema } from '../schema-validator.ts'
import type { SchemaFault, SchemaValidator } from '../schema-validator.ts'
import { jsonLikeness } from '../measure/json-diff.ts'
import type { JsonDiffOptions } from '../measure/json-diff.ts'

const Params = z.strictObject({
  type: z.enum(['any', 'object', 'array']).default('any'),
  extract: Extract,
})

/** 1 if the output is JSON; a single number or text is JSON too. */
export const jsonValid = defineScorer({
  name: 'json_valid',
  description: 'Output is JSON (RFC 8259), of any type or an object or array',
  params: Params,
  fields: { output: 'present' },
  inlineLength: 65_536,
  score: ({ output }, { type, extract }) => {
    const read = extractJson('output', output, extract)
    if (!read) return { score: 0, reason: 'output is not JSON' }
    const found = typeOf(read.value)
    const fits = type === 'any' || type === found
    return {
      score: fits ? 1 : 0,
      reason: fits ? 'output is JSON' : `output is JSON of type ${found}, not ${type}`,
      metadata: { type: found },
    }
  },
})

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

const JsonSchemaParams = z.strictObject({
  schema: z
    .union([z.record(z.string(), z.unknown()), z.boolean()])
    .describe('JSON Schema 2020-12, or draft-07 where $schema says so; at most 32 KB'),
  extract: Extract,
})
type JsonSchemaParams = z.output<typeof JsonSchemaParams>

const KEPT = 128
const LOOP = 'has an infinite reference loop'

const validatorOf = memoize(KEPT, (schema: unknown) => {
  try {
    return compileSchema(schema)
  } catch (error) {
    if (error instanceof RangeError) throw new UnusableParam('schema', `cannot be used: it ${LOOP}`)
    const why = error instanceof Error ? error.message : String(error)
    throw new UnusableParam('schema', `cannot be used: ${why}`)
  }
})

/** An infinite reference such as `{"$ref": "#"}` is only detectable as a stack overflow. */
function faultIn(value: unknown, validate: SchemaValidator): SchemaFault | null {
  try {
    return validate(value)
  } catch (error) {
    if (error instanceof RangeError) throw new Unscorable('limit_exceeded', `the schema ${LOOP}`)
    throw error
  }
}

export const jsonSchema = defineScorer({
  name: 'json_schema',
  version: '2',
  description: 'Output is JSON that satisfies a JSON Schema; formats are not asserted',
  params: JsonSchemaParams,
  fields: { output: 'present' },
  inlineLength: 0,
  prepare: ({ schema, extract }: JsonSchemaParams) => ({ validate: validatorOf(schema), extract }),
  score: ({ output }, { validate, extract }) => {
    const read = extractJson('output', output, extract)
    if (!read) return { score: 0, reason: 'output is not JSON' }
    const fault = faultIn(read.value, validate)
    if (!fault) return { score: 1, reason: 'output satisfies the schema' }
    const { path, keyword, message } = fault
    return {
      score: 0,
      reason: `output does not satisfy the schema: ${path === '' ? 'the value' : path} ${message}`,
      metadata: { path, keyword },
    }
  },
})

const JsonDiffParams = z.strictObject({
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
type JsonDiffParams = z.output<typeof JsonDiffParams>

export const jsonDiff = defineScorer({
  name: 'json_diff',
  description: 'Similarity of output and expected as JSON values, part by part',
  defaultThreshold: 0.5,
  params: JsonDiffParams,
  fields: { output: 'present', expected: 'present' },
  inlineLength: 2_048,
  prepare: (params: JsonDiffParams) => ({ options: optionsOf(params), extract: params.extract }),
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

const optionsOf = (params: JsonDiffParams): JsonDiffOptions => ({
  arrays: params.array_mode,
  strings: params.string_mode,
  numbers: params.number_mode,
  ignored: new Set(params.ignore_keys),
  autoevals: params.compat === 'autoevals',
  limit: (what) => {
    throw new Unscorable('limit_exceeded', what)
  },
})
