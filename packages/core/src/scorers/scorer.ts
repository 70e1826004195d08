import type { ResultToScore } from '@remit/contract'
import type { z } from 'zod'

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
  /** Never repeats secrets or personal data that were found. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Sums for `corpusScore`; added up position by position over all scored results. */
  readonly tally?: readonly number[]
}

/**
 * One way to give a result a number. Everything around it (fields, alternatives of the request,
 * threshold, negation, limits, time, aggregates) is done once, in `run.ts`.
 */
export interface Scorer<Params extends z.ZodType = z.ZodType> {
  readonly name: string
  /** Goes up whenever the same input may get another score. */
  readonly version: string
  readonly description: string
  readonly edition: 'community' | 'enterprise'
  readonly defaultThreshold: number
  /** Strict: a parameter it does not know is an error. A transform may compile what it was given. */
  readonly params: Params
  /** The fields it reads. `output` and `expected` are held to `maxTextLength`. */
  readonly fields: Readonly<Partial<Record<FieldName, Need>>>
  /** Code points of a text; 100,000 unless the scorer's cost asks for less. */
  readonly maxTextLength?: number
  /** Pure. Throws `Unscorable` when test data, not the output, is at fault. */
  score(result: ResultToScore, params: z.output<Params>): ScoreOutcome
  /** A score of the whole batch that is not the mean of its results, from the summed tallies. */
  corpusScore?(tally: readonly number[], params: z.output<Params>): number
}

/** Keeps the params type of a scorer's definition checked, then forgets it. */
export const defineScorer = <Params extends z.ZodType>(scorer: Scorer<Params>): Scorer => scorer

export type UnscorableCode =
  | 'missing_field'
  | 'invalid_expected'
  | 'invalid_embedding'
  | 'limit_exceeded'
  | 'time_budget_exceeded'

/**
 * This result gets no score: the test data or a limit is at fault, not the output under test.
 * It becomes `score: null` with this code, and the rest of the batch goes on.
 */
export class Unscorable extends Error {
  readonly code: UnscorableCode
  readonly field: FieldName | undefined

  constructor(code: UnscorableCode, reason: string, field?: FieldName) {
    super(reason)
    this.name = 'Unscorable'
    this.code = code
    this.field = field
  }
}
