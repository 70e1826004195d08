import { fail } from '../base/errors.ts'
import type { Scorer } from './scorer.ts'

/** The scorer of that name. Throws `scorer_not_found`, which lists the names of all. */
export function namedScorer(scorers: readonly Scorer[], name: string): Scorer {
  const scorer = scorers.find((candidate) => candidate.name === name)
  if (scorer) return scorer
  const available = scorers.map((candidate) => candidate.name)
  throw fail('scorer_not_found', undefined, { extensions: { available } })
}
