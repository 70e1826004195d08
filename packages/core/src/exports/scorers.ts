/**
 * The scorers without a server: each gives an output a score from 0 to 1.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { ScorersRequest } from '@remit/contract/scorers'
import type { ScorerInfo, ScorersAnswer } from '@remit/contract/scorers'
import type { z } from 'zod'
import { checkShape } from '../base/fields.ts'
import { builtInScorers, describeScorer, namedScorer } from '../scorers/catalogue.ts'
import { runScorer } from '../scorers/run.ts'
import type { Scorer } from '../scorers/scorer.ts'

export { Failure } from '../base/errors.ts'
export { defineScorer, defineWaitingScorer, Unscorable } from '../scorers/scorer.ts'
export type { BatchOutcome, FieldName, ScoreOutcome, WaitingScorer } from '../scorers/scorer.ts'
export { builtInScorers, runScorer }
export type { Scorer, ScorersAnswer }

/** A request as a caller writes it. */
export type ScorersInput = z.input<typeof ScorersRequest>

interface ScoreOptions {
  /** The scorers to choose from; the built-in ones unless given. */
  readonly scorers?: readonly Scorer[]
  /** Ends the waiting for a scorer that asks others. */
  readonly signal?: AbortSignal
}

/** Name, fields and params (as JSON Schema 2020-12) of every built-in scorer. */
export const listScorers = (): ScorerInfo[] => builtInScorers.map(describeScorer)

/**
 * Scores up to 1,000 results with one scorer, as `POST /v1/scorers` does, on the event loop of the
 * caller. A result that cannot be scored gets `score: null` and an error code. Throws a `Failure`
 * with the code `invalid_request`, `scorer_not_found` or `invalid_params`.
 *
 * @example
 * import { scoreResults } from '@remit/core/scorers'
 *
 * const { aggregate } = await scoreResults({
 *   scorer: 'exact_match',
 *   results: [{ output: 'Paris', expected: 'Paris' }],
 * })
 * aggregate.mean // 1
 */
export async function scoreResults(
  input: ScorersInput,
  { scorers = builtInScorers, signal = new AbortController().signal }: ScoreOptions = {},
): Promise<ScorersAnswer> {
  const request = checkShape(ScorersRequest, input)
  return runScorer(namedScorer(scorers, request.scorer), request, {
    caller: null,
    now: () => performance.now(),
    pause: () => setImmediate(),
    signal: () => signal,
  })
}
