import type { ResultToScore } from '@remit/contract'
import type { z } from 'zod'
import type { Caller } from '../caller/caller.ts'

export type FieldName = Exclude<keyof ResultToScore, 'id'>

/**
 * What a scorer needs of a field: `required` refuses absent and null, `present` refuses absent
 * only (an explicit null is a value, as in JSON scorers), `optional` copes without it.
 */
export type Need = 'required' | 'present' | 'optional'

/** What a scorer says of one result. */
export interface ScoreOutcome {
  /** 0 to 1, higher is better. */
  readonly score: number
  /** A plain clause without a final stop, such as "output equals expected". */
  readonly reason: string
  /** `reason` only names what was measured; the run adds "0.83 >= 0.8" to it. */
  readonly graded?: boolean
  /** A further clause, such as a warning. */
  readonly note?: string
  /** Never repeats secrets or personal data that were found. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Sums for `corpusScore`; added up position by position over all scored results. */
  readonly tally?: readonly number[]
}

/** What a scorer that must wait for others knows of the run beside the results. */
export interface ScoringContext {
  /** Who asked; null on the command line. */
  readonly caller: Caller | null
  /** Monotonic milliseconds. */
  now(): number
  /** Ends when the client has gone or the server closes. */
  signal(): AbortSignal
}

/** What a scorer that must wait says of a batch. */
export interface BatchOutcome {
  /** One a result, in order. */
  readonly outcomes: readonly (ScoreOutcome | Unscorable)[]
  /** Facts about the whole batch for `aggregate.metadata`, such as what it cost. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

interface Described<Params extends z.ZodType> {
  readonly name: string
  /** Goes up whenever the same input may get another score. */
  readonly version: string
  readonly description: string
  readonly edition: 'community' | 'enterprise'
  readonly defaultThreshold: number
  /** Strict: a parameter it does not know is an error. Only the shape; see `prepare`. */
  readonly params: Params
  /** The fields it reads. `output` and `expected` are held to `maxTextLength`. */
  readonly fields: Readonly<Partial<Record<FieldName, Need>>>
  /** Code points of a text; 100,000 unless the scorer's cost asks for less. */
  readonly maxTextLength?: number
  /** Results of one request, where its cost asks for fewer than the endpoint takes. */
  readonly maxResults?: number
  /** A score of the whole batch that is not the mean of its results, from the summed tallies. */
  corpusScore?(tally: readonly number[], params: z.output<Params>): number
}

/** A scorer that computes. `Prepared` is what `prepare` makes of the params, else the params. */
export interface PureScorer<
  Params extends z.ZodType = z.ZodType,
  Prepared = z.output<Params>,
> extends Described<Params> {
  /**
   * Compiles the params, where that may take long: a pattern, a schema. Throws `UnusableParam`. It
   * runs where the scoring does, which is a worker.
   */
  prepare?(params: z.output<Params>): Prepared
  /**
   * Up to this many characters of JSON a request is scored at once, on the event loop; above, in a
   * worker. So it says how much surely takes less than some 10 ms. 0 for what nobody can bound.
   */
  readonly inlineLength?: number
  /** Pure. Throws `Unscorable` when test data, not the output, is at fault. */
  score(result: ResultToScore, params: Prepared): ScoreOutcome
}

/** A scorer that asks others, such as a model, and so has to wait. */
export interface WaitingScorer<Params extends z.ZodType = z.ZodType> extends Described<Params> {
  /**
   * Gets the results whose fields are in order. A single result that cannot be scored is an
   * `Unscorable` in its place; a `Failure` that is thrown refuses the whole request. Its own
   * deadlines are its own business; they must end within 140 s.
   */
  scoreAll(
    results: readonly ResultToScore[],
    params: z.output<Params>,
    context: ScoringContext,
  ): Promise<BatchOutcome>
}

/**
 * One way to give a result a number. Everything around it (fields, alternatives of the request,
 * threshold, negation, limits, time, aggregates) is done once, in `run.ts`.
 */
export type Scorer<Params extends z.ZodType = z.ZodType> =
  | PureScorer<Params>
  | WaitingScorer<Params>

/** Keeps the params type of a scorer's definition checked, then forgets it. */
export function defineScorer<Params extends z.ZodType>(
  scorer: PureScorer<Params> & { readonly prepare?: never },
): PureScorer
export function defineScorer<Params extends z.ZodType, Prepared>(
  scorer: PureScorer<Params, Prepared> & {
    prepare(params: z.output<Params>): Prepared
  },
): PureScorer
export function defineScorer(scorer: PureScorer): PureScorer {
  return scorer
}

/** The same for a scorer that has to wait. */
export const defineWaitingScorer = <Params extends z.ZodType>(
  scorer: WaitingScorer<Params>,
): WaitingScorer => scorer

/** Modules add codes of their own for what can go wrong with the others they ask. */
export type UnscorableCode =
  | 'missing_field'
  | 'invalid_expected'
  | 'invalid_embedding'
  | 'limit_exceeded'
  | 'time_budget_exceeded'
  | (string & {})

interface UnscorableExtras {
  readonly field?: FieldName
  /** What is known all the same, such as the tokens that a failed attempt used. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/**
 * This result gets no score: the test data, the scorer or a limit is at fault, not the output
 * under test. It becomes `score: null` with this code, and the rest of the batch goes on.
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

/** A param of the right shape that cannot be used, such as a pattern with a fault. 400 `invalid_params`. */
export class UnusableParam extends Error {
  readonly param: string

  constructor(param: string, message: string) {
    super(message)
    this.name = 'UnusableParam'
    this.param = param
  }
}
