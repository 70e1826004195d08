import { z } from 'zod'
import { Extract, extractJson } from '../json-text.ts'
import { defineScorer } from '../scorer.ts'

const Params = z.strictObject({
  type: z.enum(['any', 'object', 'array']).default('any'),
  extract: Extract,
})

/** 1 if the output is JSON; a single number or text is JSON too. */
export const jsonValid = defineScorer({
  name: 'json_valid',
  version: '1',
  description: 'Output is JSON (RFC 8259), of any type or an object or array',
  edition: 'community',
  defaultThreshold: 1,
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
