import type { ResultToScore } from '@remit/contract'
import { alternativesOf, bestOf, textOf } from '../fields.ts'
import type { ScoreOutcome } from '../scorer.ts'

/** Compares the output as text with each alternative of `expected`; returns the best outcome. */
export function bestText(
  result: ResultToScore,
  compare: (output: string, expected: string) => ScoreOutcome,
): ScoreOutcome {
  const output = textOf(result.output)
  if (!Array.isArray(result.expected)) return compare(output, textOf(result.expected))
  return bestOf(alternativesOf(result), (expected) => compare(output, textOf(expected)))
}
