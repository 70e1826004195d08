import type { ScorerInfo } from '@remit/contract'
import { builtInScorers } from './built-in/index.ts'
import { paramsSchema } from './params.ts'
import type { Scorer } from './scorer.ts'

export { builtInScorers }

/** What the catalogue says of a scorer. */
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
