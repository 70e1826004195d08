import { createHash } from 'node:crypto'
import type { ScorersAnswer, ScorersRequest } from '@remit/contract'
import type { Caller } from '../caller/caller.ts'
import { canonicalJson } from '@remit/contract/json'

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
  const { aggregate, threshold, scorer, scorer_version } = answer
  return {
    scorer,
    scorerVersion: scorer_version,
    threshold,
    count: aggregate.count,
    scored: aggregate.scored,
    failed: answer.scores.filter(({ passed }) => passed === false).length,
    mean: aggregate.mean,
    passRate: aggregate.pass_rate,
    errorsByCode: aggregate.errors_by_code,
    metadata: aggregate.metadata,
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
