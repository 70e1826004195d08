import { z } from 'zod'
import { Extract, extractJson } from '../json-text.ts'
import { memoize } from '../memoize.ts'
import { compileSchema } from '../schema-validator.ts'
import type { SchemaFault, SchemaValidator } from '../schema-validator.ts'
import { Unscorable, UnusableParam, defineScorer } from '../scorer.ts'

const Params = z.strictObject({
  schema: z
    .union([z.record(z.string(), z.unknown()), z.boolean()])
    .describe('JSON Schema 2020-12, or draft-07 where $schema says so; at most 32 KB'),
  extract: Extract,
})
type Params = z.output<typeof Params>

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

/** 1 if the output is JSON that is valid for a schema. */
export const jsonSchema = defineScorer({
  name: 'json_schema',
  version: '2',
  description: 'Output is JSON that satisfies a JSON Schema; formats are not asserted',
  edition: 'community',
  defaultThreshold: 1,
  params: Params,
  fields: { output: 'present' },
  inlineLength: 0,
  prepare: ({ schema, extract }: Params) => ({ validate: validatorOf(schema), extract }),
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
