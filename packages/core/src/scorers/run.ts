import type { ResultToScore, Score, ScorersAnswer, ScorersRequest } from '@remit/contract'
import { aggregate } from './aggregates.ts'
import { checkFields } from './fields.ts'
import type { RunParams } from './params.ts'
import { parseParams } from './params.ts'
import type { ScoreOutcome, Scorer } from './scorer.ts'
import { Unscorable } from './scorer.ts'

/** Time and the event loop, given from outside. Milliseconds. */
export interface RunContext {
  /** Monotonic. */
  now(): number
  /** Lets other requests run. */
  pause(): Promise<void>
}

const COMPUTE_BUDGET_MS = 5_000
const SLICE_MS = 10
// 0.8 as a sum of tenths must still pass a threshold of 0.8.
const ROUNDING = 1e-9

/**
 * Scores a batch in input order. One bad result never fails the batch; wrong params do
 * (`invalid_params`). After 5 s of computing, the rest is left unscored and says so.
 */
export async function runScorer(
  scorer: Scorer,
  request: ScorersRequest,
  context: RunContext,
): Promise<ScorersAnswer> {
  const started = context.now()
  const params = parseParams(scorer, request.params)
  const threshold = request.threshold ?? scorer.defaultThreshold
  const scores: Score[] = []
  const tally: number[] = []
  let spent = 0
  let slice = 0
  for (const [index, result] of request.results.entries()) {
    const before = context.now()
    const outcome = spent > COMPUTE_BUDGET_MS ? outOfTime() : scoreOne(scorer, params, result)
    if (!(outcome instanceof Unscorable)) addUp(tally, outcome.tally)
    scores.push(toScore(outcome, result.id ?? null, index, threshold))
    const took = context.now() - before
    spent += took
    slice += took
    if (slice < SLICE_MS) continue
    slice = 0
    await context.pause()
  }
  return {
    scorer: scorer.name,
    scorer_version: scorer.version,
    threshold,
    scores,
    aggregate: aggregate(scores, corpusScore(scorer, params, tally)),
    duration_ms: Math.round(context.now() - started),
  }
}

function scoreOne(
  scorer: Scorer,
  params: RunParams,
  result: ResultToScore,
): ScoreOutcome | Unscorable {
  try {
    checkFields(scorer, result)
    const outcome = scorer.score(result, params.own)
    const score = clamp(outcome.score, scorer.name)
    if (!params.negate) return { ...outcome, score }
    return { ...outcome, score: 1 - score, reason: `${outcome.reason} (negated)` }
  } catch (error) {
    if (error instanceof Unscorable) return error
    throw error
  }
}

const outOfTime = (): Unscorable =>
  new Unscorable('time_budget_exceeded', 'the 5 s of computing for a request were used up before')

function toScore(
  outcome: ScoreOutcome | Unscorable,
  id: string | null,
  index: number,
  threshold: number,
): Score {
  if (outcome instanceof Unscorable) {
    const { code, field, message: reason } = outcome
    const error = field === undefined ? { code } : { code, field }
    return { id, index, score: null, passed: null, reason, metadata: {}, error }
  }
  const { score, reason, metadata = {} } = outcome
  const passed = score >= threshold - ROUNDING
  return { id, index, score, passed, reason, metadata: { ...metadata }, error: null }
}

/** Rounding may carry a score a little past its ends; anything that is no number is a defect. */
function clamp(score: number, scorer: string): number {
  if (Number.isNaN(score)) throw new Error(`The scorer ${scorer} gave a score that is no number`)
  return Math.min(1, Math.max(0, score))
}

function addUp(total: number[], tally: readonly number[] = []): void {
  for (const [index, amount] of tally.entries()) total[index] = (total[index] ?? 0) + amount
}

function corpusScore(scorer: Scorer, params: RunParams, tally: readonly number[]): number | null {
  if (!scorer.corpusScore || tally.length === 0) return null
  const score = clamp(scorer.corpusScore(tally, params.own), scorer.name)
  return params.negate ? 1 - score : score
}
