import { z } from 'zod'
import { textOf } from '../fields.ts'
import { memoize } from '../memoize.ts'
import { compilePattern } from '../../base/pattern.ts'
import { Unscorable, UnusableParam, defineScorer } from '../scorer.ts'

const Params = z.strictObject({
  pattern: z.string().min(1).max(1000).describe('RE2 syntax: no lookaround, no backreferences'),
  flags: z
    .string()
    .regex(/^[ims]{0,3}$/, 'must be of i, m and s')
    .default(''),
  full: z.boolean().default(false).describe('The whole output must match, not a part of it'),
})
type Params = z.output<typeof Params>

// A compiled pattern may use a table of 8 MB.
const KEPT = 8

const patternOf = memoize(KEPT, ({ pattern, flags, full }: Params) => {
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
  version: '1',
  description: 'Output matches a pattern in RE2 syntax, somewhere or (full) as a whole',
  edition: 'community',
  defaultThreshold: 1,
  params: Params,
  fields: { output: 'required' },
  inlineLength: 0,
  prepare: (params: Params) => patternOf(params),
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
