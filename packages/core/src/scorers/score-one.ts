import type { ResultToScore } from '@remit/contract'
import { checkFields } from './fields.ts'
import type { PureScorer, ScoreOutcome } from './scorer.ts'
import { Unscorable } from './scorer.ts'

/** Scores one result with a pure scorer. For `prepared`, see `PureScorer.prepare`. */
export function scoreOne(
  scorer: PureScorer,
  result: ResultToScore,
  prepared: unknown,
): ScoreOutcome | Unscorable {
  try {
    checkFields(scorer, result)
    return scorer.score(result, prepared)
  } catch (error) {
    if (error instanceof Unscorable) return error
    throw error
  }
}

/** Returns the params for `score`. Throws `UnusableParam`. */
export const prepare = (scorer: PureScorer, params: unknown): unknown =>
  scorer.prepare ? scorer.prepare(params) : params
