import type { ScorerInfo } from '@remit/contract'
import { builtInScorers } from './built-in/index.ts'
import { paramsSchema } from './params.ts'
import type { Scorer } from './scorer.ts'
import { fail } from '../base/errors.ts'

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

/** The scorer of that name. Throws `scorer_not_found`, which lists the names of all. */
export function namedScorer(scorers: readonly Scorer[], name: string): Scorer {
  const scorer = scorers.find((candidate) => candidate.name === name)
  if (scorer) return scorer
  const available = scorers.map((candidate) => candidate.name)
  throw fail('scorer_not_found', undefined, { extensions: { available } })
}
