import type { ScorerInfo } from '@remit/contract'
import { builtInScorers } from './built-in/index.ts'
import { paramsSchema } from './params.ts'
import type { Scorer } from './scorer.ts'

export { builtInScorers }

/** Returns the description of a scorer for the catalogue. */
export const describeScorer = (scorer: Scorer): ScorerInfo => ({
  name: scorer.name,
  version: scorer.version,
  description: scorer.description,
  edition: scorer.edition,
  default_threshold: scorer.defaultThreshold,
  fields: Object.entries(scorer.fields).map(([name, need]) => ({
    name,
    required: need !== 'optional',
  })),
  params: paramsSchema(scorer),
})
