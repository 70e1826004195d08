import type {
  FieldError,
  ResultToScore,
  Score,
  ScorersAnswer,
  ScorersRequest,
} from '@remit/contract'
import type { Computer } from '../threads/pool.ts'
import { fail, invalid } from '../base/errors.ts'
import { aggregate } from './aggregates.ts'
import { compute } from './compute.ts'
import { checkFields } from './fields.ts'
import { parseParams } from './params.ts'
import { addUp, corpusScore, finish, toScore } from './score-entry.ts'
import type { BatchOutcome, Scorer, ScoringContext } from './scorer.ts'
import { Unscorable, UnusableParam } from './scorer.ts'
import type { Pacing } from '../computing/slices.ts'

export interface RunContext extends Pacing, ScoringContext {
  /** Absent: everything is computed on the event loop. */
  readonly computer?: Computer
  /** Computing time in milliseconds. Default: 5,000. */
  readonly budgetMs?: number
  /** CPU time of this thread in milliseconds. Default: `computedMs`. */
  readonly computed?: () => number
  /** Called with the number of finished results, if they are computed on the event loop. */
  readonly progress?: (done: number) => void
}

const COMPUTE_BUDGET_MS = 5_000

/**
 * Scores a batch in input order. One invalid result never fails the batch; invalid params do
 * (`invalid_params`). After 5 s of computing (CPU time), the remaining results get an error instead of a
 * score.
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
    throw invalid('results', `${scorer.name} accepts at most ${scorer.maxResults} results`)
  const threshold = request.threshold ?? scorer.defaultThreshold
  const { outcomes, metadata = {} } = await outcomesOf(scorer, results, params.own, context).catch(
    refuseParams,
  )
  const scores: Score[] = []
  const tally: number[] = []
  for (const [index, given] of outcomes.entries()) {
    const outcome = given instanceof Unscorable ? given : finish(scorer, params, given, threshold)
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
  if ('score' in scorer) {
    const { caller, budgetMs = COMPUTE_BUDGET_MS } = context
    const owner = caller?.orgId ?? ''
    return { outcomes: await compute(scorer, params, results, { ...context, owner, budgetMs }) }
  }
  const faults = results.map((result) => faultOf(scorer, result))
  const scorable = results.filter((_, index) => faults[index] === undefined)
  if (scorable.length === 0) return { outcomes: faults.flatMap((fault) => fault ?? []) }
  const { outcomes, ...batch } = await scorer.scoreAll(scorable, params, context)
  if (outcomes.length !== scorable.length)
    throw new Error(
      `The scorer ${scorer.name} returned ${outcomes.length} outcomes for ${scorable.length} results`,
    )
  const given = outcomes.values()
  return { ...batch, outcomes: faults.flatMap((fault) => fault ?? given.next().value ?? []) }
}

function faultOf(scorer: Scorer, result: ResultToScore): Unscorable | undefined {
  try {
    checkFields(scorer, result)
    return undefined
  } catch (error) {
    if (error instanceof Unscorable) return error
    throw error
  }
}

function refuseParams(error: unknown): never {
  if (!(error instanceof UnusableParam)) throw error
  const errors: FieldError[] = [{ path: `params.${error.param}`, message: error.message }]
  throw fail('invalid_params', `params.${error.param}: ${error.message}`, { errors })
}
