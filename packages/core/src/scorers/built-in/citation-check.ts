import { z } from 'zod'
import { textOf } from '../fields.ts'
import { defineScorer } from '../scorer.ts'

const Params = z.strictObject({
  min: z
    .int()
    .min(0)
    .max(1000)
    .default(1)
    .describe('Minimum number of distinct sources that must be cited'),
})

const CITATION = /\[\s{0,8}(\d{1,9}(?:\s{0,8}[,;]\s{0,8}\d{1,9})*)\s{0,8}\]/g

/** The share of citations with the number of a source in `context`. */
export const citationCheck = defineScorer({
  name: 'citation_check',
  version: '1',
  description: 'Share of the citations [n] of output that name one of the sources in context',
  edition: 'community',
  defaultThreshold: 1,
  params: Params,
  fields: { output: 'required', context: 'required' },
  inlineLength: 16_384,
  score: ({ output, context }, { min }) => {
    const sources = context?.length ?? 0
    const cited = new Set<number>()
    for (const [, numbers = ''] of textOf(output).matchAll(CITATION))
      for (const number of numbers.split(/[,;]/)) cited.add(Number(number))
    const known = [...cited].filter((number) => number >= 1 && number <= sources).length
    const metadata = { cited: cited.size, known, sources }
    if (cited.size < min)
      return { score: 0, reason: `output cites ${cited.size} sources, fewer than ${min}`, metadata }
    return {
      score: cited.size === 0 ? 1 : known / cited.size,
      reason: `${known} of ${cited.size} citations name a source`,
      metadata,
    }
  },
})
