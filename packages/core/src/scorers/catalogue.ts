import type { ScorerInfo } from '@remit/contract'
import { contains } from './contains.ts'
import { exactMatch } from './exact-match.ts'
import { paramsSchema } from './params.ts'
import { regexMatch } from './regex-match.ts'
import type { Scorer } from './scorer.ts'

/** The scorers of the open part. Modules contribute more. */
export const builtInScorers: readonly Scorer[] = [contains, exactMatch, regexMatch]

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
