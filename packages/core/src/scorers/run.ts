import type { ResultToScore, Score, ScorersAnswer, ScorersRequest } from '@remit/contract'
import { invalid } from '../errors.ts'
import { aggregate } from './aggregates.ts'
import { checkFields } from './fields.ts'
import type { RunParams } from './params.ts'
import { parseParams } from './params.ts'
import type { BatchOutcome, PureScorer, ScoreOutcome, Scorer, ScoringContext } from './scorer.ts'
import { Unscorable } from './scorer.ts'
import { sliced } from './slices.ts'
import type { Pacing } from './slices.ts'

export type RunContext = Pacing & ScoringContext

const COMPUTE_BUDGET_MS = 5_000
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
  const { results } = request
  const params = parseParams(scorer, request.params)
  if (scorer.maxResults !== undefined && results.length > scorer.maxResults)
    throw invalid('results', `${scorer.name} takes at most ${scorer.maxResults} results`)
  const threshold = request.threshold ?? scorer.defaultThreshold
  const { outcomes, metadata = {} } = await outcomesOf(scorer, results, params.own, context)
  const scores: Score[] = []
  const tally: number[] = []
  for (const [index, given] of outcomes.entries()) {
    const outcome = given instanceof Unscorable ? given : finish(scorer, params, given)
    if (!(outcome instanceof Unscorable)) addUp(tally, outcome.tally)
    scores.push(toScore(outcome, results[index]?.id ?? null, index, threshold))
  }
  return {
    scorer: scorer.name,
    scorer_version: scorer.version,
    threshold,
    scores,
    aggregate: aggregate(scores, corpusScore(scorer, params, tally), metadata),
    duration_ms: Math.round(context.now() - started),
  }
}

async function outcomesOf(
  scorer: Scorer,
  results: readonly ResultToScore[],
  params: unknown,
  context: RunContext,
): Promise<BatchOutcome> {
  if ('score' in scorer) return { outcomes: await compute(scorer, results, params, context) }
  const faults = results.map((result) => unscorable(() => checkFields(scorer, result)))
  const scorable = results.filter((_, index) => faults[index] === undefined)
  if (scorable.length === 0) return { outcomes: faults.flatMap((fault) => fault ?? []) }
  const { outcomes, ...batch } = await scorer.scoreAll(scorable, params, context)
  if (outcomes.length !== scorable.length)
    throw new Error(`The scorer ${scorer.name} answered ${outcomes.length} of ${scorable.length}`)
  const given = outcomes.values()
  return { ...batch, outcomes: faults.flatMap((fault) => fault ?? given.next().value ?? []) }
}

async function compute(
  scorer: PureScorer,
  results: readonly ResultToScore[],
  params: unknown,
  context: RunContext,
): Promise<(ScoreOutcome | Unscorable)[]> {
  const outcomes: (ScoreOutcome | Unscorable)[] = []
  const rest = sliced(context)
  let spent = 0
  for (const result of results) {
    const before = context.now()
    outcomes.push(spent > COMPUTE_BUDGET_MS ? outOfTime() : scoreOne(scorer, result, params))
    spent += context.now() - before
    await rest()
  }
  return outcomes
}

function scoreOne(
  scorer: PureScorer,
  result: ResultToScore,
  params: unknown,
): ScoreOutcome | Unscorable {
  let outcome: ScoreOutcome | undefined
  const fault = unscorable(() => {
    checkFields(scorer, result)
    outcome = scorer.score(result, params)
  })
  return fault ?? (outcome as ScoreOutcome)
}

/** What kept the work from giving a score; any other error is a defect and goes on. */
function unscorable(work: () => void): Unscorable | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof Unscorable) return error
    throw error
  }
}

const outOfTime = (): Unscorable =>
  new Unscorable('time_budget_exceeded', 'the 5 s of computing for a request were used up before')

function finish(scorer: Scorer, params: RunParams, outcome: ScoreOutcome): ScoreOutcome {
  const score = clamp(outcome.score, scorer.name)
  if (!params.negate) return { ...outcome, score }
  return { ...outcome, score: 1 - score, reason: `${outcome.reason} (negated)` }
}

function toScore(
  outcome: ScoreOutcome | Unscorable,
  id: string | null,
  index: number,
  threshold: number,
): Score {
  const metadata = { ...outcome.metadata }
  if (outcome instanceof Unscorable) {
    const { code, field, message: reason } = outcome
    const error = field === undefined ? { code } : { code, field }
    return { id, index, score: null, passed: null, reason, metadata, error }
  }
  const { score, reason } = outcome
  const passed = score >= threshold - ROUNDING
  return { id, index, score, passed, reason, metadata, error: null }
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
