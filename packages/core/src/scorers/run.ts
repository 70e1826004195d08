import { createHash } from 'node:crypto'
import type {
  FieldError,
  ResultToScore,
  Score,
  ScorersAnswer,
  ScorersRequest,
  ScoreAggregate,
} from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import type { Computer } from '../threads/pool.ts'
import { fail, invalid } from '../base/errors.ts'
import { checkFields, parseParams } from './params.ts'
import type { RunParams } from './params.ts'
import { Unscorable, UnusableParam } from './scorer.ts'
import type { BatchOutcome, Scorer, ScoringContext, PureScorer, ScoreOutcome } from './scorer.ts'
import { sliced } from '../computing/computing.ts'
import type { Pacing } from '../computing/computing.ts'
import { computedMs } from '../base/clock.ts'
import { Refusal } from '../threads/job.ts'
import { prepare, received, scoreJob, scoreOne, unusableParam } from './score-job.ts'
import type { Caller } from '../caller/caller.ts'

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

interface ComputeContext extends Pacing {
  /** Absent on the command line: everything is computed on the event loop. */
  readonly computer?: Computer | undefined
  /** The organization that the work is for. */
  readonly owner: string
  /** Computing time of a whole batch, in milliseconds. */
  readonly budgetMs: number
  /** CPU time of this thread in milliseconds. Default: `computedMs`. */
  readonly computed?: () => number
  /** Called with the number of finished results. */
  readonly progress?: (done: number) => void
}

type Outcome = ScoreOutcome | Unscorable

// A part takes a worker a few milliseconds, so that batches take turns.
const PART_LENGTH = 64 * 1024
const PART_RESULTS = 200

/** Returns one outcome per result. Throws `UnusableParam`. */
async function compute(
  scorer: PureScorer,
  params: unknown,
  results: readonly ResultToScore[],
  context: ComputeContext,
): Promise<Outcome[]> {
  const { computer } = context
  const inline = scorer.inlineLength ?? Number.POSITIVE_INFINITY
  if (!computer || isShort(scorer, results, inline))
    return computeHere(scorer, params, results, context)
  return computeApart(scorer, params, results, context, computer)
}

async function computeHere(
  scorer: PureScorer,
  params: unknown,
  results: readonly ResultToScore[],
  context: ComputeContext,
): Promise<Outcome[]> {
  const prepared = prepare(scorer, params)
  const outcomes: Outcome[] = []
  const rest = sliced(context)
  const { computed = computedMs } = context
  let spent = 0
  for (const result of results) {
    const before = computed()
    outcomes.push(
      spent > context.budgetMs ? outOfTime(context) : scoreOne(scorer, result, prepared),
    )
    spent += computed() - before
    context.progress?.(outcomes.length)
    await rest()
  }
  return outcomes
}

async function computeApart(
  scorer: PureScorer,
  params: unknown,
  results: readonly ResultToScore[],
  context: ComputeContext,
  computer: Computer,
): Promise<Outcome[]> {
  const task = { scorer: scorer.name, params: JSON.stringify(params) }
  const outcomes: Outcome[] = []
  let left = context.budgetMs
  let most = PART_RESULTS
  while (outcomes.length < results.length) {
    if (left <= 0) {
      outcomes.push(outOfTime(context))
      continue
    }
    const part = partOf(scorer, results, outcomes.length, most)
    const input = { ...task, results: part }
    const answer = await computer
      .run(context.owner, scoreJob, input, left)
      .catch((error: unknown) => {
        throw error instanceof Refusal ? unusableParam(error) : error
      })
    left = answer.ended === 'time' ? 0 : left - answer.spentMs
    outcomes.push(...answer.parts.map(received))
    if (answer.ended !== 'memory') continue
    // Retries each result in a separate worker to find the one at fault.
    if (part.length === 1) outcomes.push(outOfMemory())
    most = 1
  }
  return outcomes
}

function partOf(
  scorer: PureScorer,
  results: readonly ResultToScore[],
  from: number,
  most: number,
): string[] {
  const part: string[] = []
  let length = 0
  for (const result of results.slice(from, from + most)) {
    const text = textFor(scorer, result)
    length += text.length
    if (part.length > 0 && length > PART_LENGTH) break
    part.push(text)
  }
  return part
}

function isShort(scorer: PureScorer, results: readonly ResultToScore[], most: number): boolean {
  if (most === Number.POSITIVE_INFINITY) return true
  let length = 0
  for (const result of results) {
    if (length >= most) return false
    length += textFor(scorer, result).length
  }
  return length < most
}

/** Returns only the fields that the scorer reads. */
function textFor(scorer: PureScorer, result: ResultToScore): string {
  const read: Partial<Record<string, unknown>> = {}
  for (const field of Object.keys(scorer.fields) as (keyof typeof scorer.fields)[])
    if (result[field] !== undefined) read[field] = result[field]
  return JSON.stringify(read)
}

const outOfTime = ({ budgetMs }: ComputeContext): Unscorable =>
  new Unscorable(
    'time_budget_exceeded',
    `the request exceeded its computing time of ${budgetMs / 1000} s`,
  )

const outOfMemory = (): Unscorable =>
  new Unscorable('limit_exceeded', 'the result exceeded its memory limit')

// 0.8 as a sum of tenths must still reach a threshold of 0.8.
const ROUNDING = 1e-9

const passes = (score: number, threshold: number): boolean => score >= threshold - ROUNDING

/** Returns the outcome within 0 and 1, negated if requested, with its full reason. */
function finish(
  scorer: Scorer,
  { negate }: RunParams,
  outcome: ScoreOutcome,
  threshold: number,
): ScoreOutcome {
  const given = clamp(outcome.score, scorer.name)
  const score = negate ? 1 - given : given
  const graded = outcome.graded ? ` ${comparison(score, threshold)}` : ''
  const negated = negate ? ' (negated)' : ''
  const note = outcome.note === undefined ? '' : `; ${outcome.note}`
  return { ...outcome, score, reason: `${outcome.reason}${graded}${negated}${note}` }
}

/** Formats `0.83 >= 0.8`: rounded, unless rounding would make it false. */
function comparison(score: number, threshold: number): string {
  const passed = passes(score, threshold)
  const rounded = Math.round(score * 1e4) / 1e4
  const shown = rounded >= threshold === passed ? rounded : score
  return `${shown} ${passed ? '>=' : '<'} ${threshold}`
}

/** Returns the element of one result in the response. */
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
  return { id, index, score, passed: passes(score, threshold), reason, metadata, error: null }
}

/**
 * Rounding may move a score slightly beyond its limits; a value that is not a number is a defect.
 */
function clamp(score: number, scorer: string): number {
  if (Number.isNaN(score))
    throw new Error(`The scorer ${scorer} returned a score that is not a number`)
  return Math.min(1, Math.max(0, score))
}

function addUp(total: number[], tally: readonly number[] = []): void {
  for (const [index, amount] of tally.entries()) total[index] = (total[index] ?? 0) + amount
}

/** Returns the corpus score of the batch, if the scorer has one. */
function corpusScore(
  scorer: Scorer,
  { own, negate }: RunParams,
  tally: readonly number[],
): number | null {
  if (!scorer.corpusScore || tally.length === 0) return null
  const score = clamp(scorer.corpusScore(tally, own), scorer.name)
  return negate ? 1 - score : score
}

/** The record of a finished run: numbers and a hash, never the scored texts. */
export interface FinishedRun {
  readonly scorer: string
  readonly scorerVersion: string
  readonly threshold: number
  readonly count: number
  readonly scored: number
  /** Number of scored results below the threshold. */
  readonly failed: number
  /** Null without a scored result. */
  readonly mean: number | null
  readonly passRate: number | null
  /** Results without a score, by code. */
  readonly errorsByCode: Readonly<Record<string, number>>
  /** Data of the scorer about the batch, such as tokens and cost. */
  readonly metadata: Readonly<Record<string, unknown>>
  /**
   * Lower-case hex of SHA-256 over lines, each ended by U+000A, of canonical JSON (RFC 8785): first
   * `{params, scorer, scorer_version, threshold}`, then each result of the request.
   */
  readonly contentHash: string
}

/**
 * Observes every run over HTTP before its response. A `Failure` that it throws becomes the
 * response, because an unrecorded run must not count.
 */
export interface ScorerRuns {
  ran(caller: Caller, run: FinishedRun): Promise<void>
}

/**
 * Returns the record of a run. `rest` is called between results, so that other requests can run.
 */
export async function finishedRun(
  request: ScorersRequest,
  answer: ScorersAnswer,
  rest: () => Promise<void>,
): Promise<FinishedRun> {
  const { aggregate: totals, threshold, scorer, scorer_version } = answer
  return {
    scorer,
    scorerVersion: scorer_version,
    threshold,
    count: totals.count,
    scored: totals.scored,
    failed: answer.scores.filter(({ passed }) => passed === false).length,
    mean: totals.mean,
    passRate: totals.pass_rate,
    errorsByCode: totals.errors_by_code,
    metadata: totals.metadata,
    contentHash: await contentHash(request, answer, rest),
  }
}

async function contentHash(
  { params = {}, results }: ScorersRequest,
  { scorer, scorer_version, threshold }: ScorersAnswer,
  rest: () => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256')
  hash.update(`${canonicalJson({ params, scorer, scorer_version, threshold })}\n`)
  for (const result of results) {
    hash.update(`${canonicalJson(result)}\n`)
    await rest()
  }
  return hash.digest('hex')
}

// The 97.5 % point of the normal distribution: both intervals are at the 95 % level.
const Z = 1.959963984540054
const LEVEL = 0.95

/** The input of the statistics: one per result, null for a missing score. */
interface ScoredResult {
  readonly score: number | null
  readonly passed: boolean | null
  readonly error?: { readonly code: string } | null
}

/** Returns the statistics of a batch. Results without a score count only as errors. */
export function aggregate(
  results: readonly ScoredResult[],
  ofCorpus: number | null,
  metadata: Readonly<Record<string, unknown>> = {},
): ScoreAggregate {
  const scores = results.flatMap(({ score }) => (score === null ? [] : [score]))
  const passed = results.filter((result) => result.passed === true).length
  const n = scores.length
  const sorted = scores.toSorted((a, b) => a - b)
  const mean = n === 0 ? null : sum(scores) / n
  const stddev = mean === null ? null : sampleDeviation(scores, mean)
  const stderr = stddev === null ? null : stddev / Math.sqrt(n)
  return {
    count: results.length,
    scored: n,
    errors: results.length - n,
    errors_by_code: byCode(results),
    mean,
    median: median(sorted),
    stddev,
    stderr,
    min: sorted[0] ?? null,
    max: sorted.at(-1) ?? null,
    pass_rate: n === 0 ? null : passed / n,
    pass_rate_ci: wilson(passed, n),
    mean_ci: mean === null || stderr === null ? null : aroundMean(mean, stderr),
    corpus_score: ofCorpus,
    metadata: { ...metadata },
  }
}

function byCode(results: readonly ScoredResult[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { error } of results) if (error) counts[error.code] = (counts[error.code] ?? 0) + 1
  return counts
}

function sum(numbers: readonly number[]): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}

function median(sorted: readonly number[]): number | null {
  const middle = sorted.length >> 1
  const upper = sorted[middle]
  if (upper === undefined) return null
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

/** Sample standard deviation with n − 1; undefined for a single score. */
function sampleDeviation(scores: readonly number[], mean: number): number | null {
  if (scores.length < 2) return null
  return Math.sqrt(sum(scores.map((score) => (score - mean) ** 2)) / (scores.length - 1))
}

/** Wilson score interval: stays within 0 to 1 and is accurate for few results, unlike p ± z·s. */
function wilson(passed: number, n: number): ScoreAggregate['pass_rate_ci'] {
  if (n === 0) return null
  const p = passed / n
  const scale = 1 + Z ** 2 / n
  const center = (p + Z ** 2 / (2 * n)) / scale
  const reach = (Z * Math.sqrt((p * (1 - p)) / n + Z ** 2 / (4 * n ** 2))) / scale
  return interval(center - reach, center + reach, 'wilson')
}

const aroundMean = (mean: number, stderr: number) =>
  interval(mean - Z * stderr, mean + Z * stderr, 'normal')

const interval = (low: number, high: number, method: string) => ({
  low: Math.max(0, low),
  high: Math.min(1, high),
  level: LEVEL,
  method,
})
