import type { ResultToScore } from '@remit/contract'
import type { z } from 'zod'
import type { Caller } from '../caller/caller.ts'

export type FieldName = Exclude<keyof ResultToScore, 'id'>

/**
 * The requirement of a scorer for a field: `required` rejects absent and null, `present` rejects
 * absent only (an explicit null is a value, as in JSON scorers), `optional` accepts both.
 */
export type Need = 'required' | 'present' | 'optional'

export interface ScoreOutcome {
  /** 0 to 1, higher is better. */
  readonly score: number
  /** A clause without a final period, such as "output equals expected". */
  readonly reason: string
  /** `reason` only names the measure; the run adds "0.83 >= 0.8" to it. */
  readonly graded?: boolean
  /** A further clause, such as a warning. */
  readonly note?: string
  /** Never contains found secrets or personal data. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Sums for `corpusScore`; added element by element over all scored results. */
  readonly tally?: readonly number[]
}

/** Context of the run for a scorer that waits for external services. */
export interface ScoringContext {
  /** The caller; null on the command line. */
  readonly caller: Caller | null
  /** Monotonic milliseconds. */
  now(): number
  /** Aborts when the client disconnects or the server closes. */
  signal(): AbortSignal
}

export interface BatchOutcome {
  /** One per result, in order. */
  readonly outcomes: readonly (ScoreOutcome | Unscorable)[]
  /** Facts about the whole batch for `aggregate.metadata`, such as its cost. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

interface Described<Params extends z.ZodType> {
  readonly name: string
  /** Increased whenever the same input may get another score. */
  readonly version: string
  readonly description: string
  readonly edition: 'community' | 'enterprise'
  readonly defaultThreshold: number
  /** Strict: an unknown parameter is an error. Only the shape; see `prepare`. */
  readonly params: Params
  /** The fields it reads. `output` and `expected` are limited to `maxTextLength`. */
  readonly fields: Readonly<Partial<Record<FieldName, Need>>>
  /** Maximum code points of a text. Default: 100,000. */
  readonly maxTextLength?: number
  /** Maximum results per request, if below that of the endpoint. */
  readonly maxResults?: number
  /**
   * Returns a score of the whole batch that is not the mean of its results, from the summed
   * tallies.
   */
  corpusScore?(tally: readonly number[], params: z.output<Params>): number
}

/** A scorer that only computes. `Prepared` is the result of `prepare`, else the params. */
export interface PureScorer<
  Params extends z.ZodType = z.ZodType,
  Prepared = z.output<Params>,
> extends Described<Params> {
  /**
   * Compiles the params if that may take long: a pattern, a schema. Throws `UnusableParam`. Runs in
   * the worker that scores.
   */
  prepare?(params: z.output<Params>): Prepared
  /**
   * Requests up to this many characters of JSON are scored on the event loop; larger ones in a
   * worker. The maximum that surely takes less than about 10 ms; 0 if there is no bound.
   */
  readonly inlineLength?: number
  /** Pure. Throws `Unscorable` if the test data, not the output, is invalid. */
  score(result: ResultToScore, params: Prepared): ScoreOutcome
}

/** A scorer that calls external services, such as a model. */
export interface WaitingScorer<Params extends z.ZodType = z.ZodType> extends Described<Params> {
  /**
   * Scores the results with valid fields. A single result without a score is an `Unscorable` in its
   * place; a thrown `Failure` fails the whole request. It sets its own deadlines, which must be
   * below 140 s.
   */
  scoreAll(
    results: readonly ResultToScore[],
    params: z.output<Params>,
    context: ScoringContext,
  ): Promise<BatchOutcome>
}

/**
 * A method that rates a result. The common parts (fields, alternatives of the request, threshold,
 * negation, limits, time, statistics) are in `run.ts`.
 */
export type Scorer<Params extends z.ZodType = z.ZodType> =
  | PureScorer<Params>
  | WaitingScorer<Params>

/** The defaults of a scorer. */
const DEFAULTS = { version: '1', edition: 'community', defaultThreshold: 1 } as const

type WithDefaults<S> = Omit<S, keyof typeof DEFAULTS> &
  Partial<Pick<Described<z.ZodType>, keyof typeof DEFAULTS>>

/**
 * Checks the params type of a scorer's definition, then erases it. Without a version it is 1, without a threshold 1.
 */
export function defineScorer<Params extends z.ZodType>(
  scorer: WithDefaults<PureScorer<Params>> & { readonly prepare?: never },
): PureScorer
export function defineScorer<Params extends z.ZodType, Prepared>(
  scorer: WithDefaults<PureScorer<Params, Prepared>> & {
    prepare(params: z.output<Params>): Prepared
  },
): PureScorer
export function defineScorer(scorer: WithDefaults<PureScorer>): PureScorer {
  return { ...DEFAULTS, ...scorer }
}

/** The same for a waiting scorer. */
export const defineWaitingScorer = <Params extends z.ZodType>(
  scorer: WaitingScorer<Params>,
): WaitingScorer => scorer

/** Modules add codes for errors of external services. */
export type UnscorableCode =
  | 'missing_field'
  | 'invalid_expected'
  | 'invalid_tool_calls'
  | 'invalid_embedding'
  | 'limit_exceeded'
  | 'time_budget_exceeded'
  | (string & {})

interface UnscorableExtras {
  readonly field?: FieldName
  /** Known facts despite the error, such as the tokens of a failed attempt. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/**
 * This result gets no score: the test data, the scorer or a limit is the cause, not the output
 * under test. It becomes `score: null` with this code, and the rest of the batch continues.
 */
export class Unscorable extends Error {
  readonly code: UnscorableCode
  readonly field: FieldName | undefined
  readonly metadata: Readonly<Record<string, unknown>>

  constructor(code: UnscorableCode, reason: string, extras: FieldName | UnscorableExtras = {}) {
    super(reason)
    const { field, metadata = {} } = typeof extras === 'string' ? { field: extras } : extras
    this.name = 'Unscorable'
    this.code = code
    this.field = field
    this.metadata = metadata
  }
}

/**
 * A param of the right shape with an invalid value, such as a malformed pattern. 400
 * `invalid_params`.
 */
export class UnusableParam extends Error {
  readonly param: string

  constructor(param: string, message: string) {
    super(message)
    this.name = 'UnusableParam'
    this.param = param
  }
}
