import type { Score } from '@remit/contract'
import type { RunParams } from './params.ts'
import type { ScoreOutcome, Scorer } from './scorer.ts'
import { Unscorable } from './scorer.ts'

// 0.8 as a sum of tenths must still reach a threshold of 0.8.
const ROUNDING = 1e-9

const passes = (score: number, threshold: number): boolean => score >= threshold - ROUNDING

/** Returns the outcome within 0 and 1, negated if requested, with its full reason. */
export function finish(
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
export function toScore(
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

export function addUp(total: number[], tally: readonly number[] = []): void {
  for (const [index, amount] of tally.entries()) total[index] = (total[index] ?? 0) + amount
}

/** Returns the corpus score of the batch, if the scorer has one. */
export function corpusScore(
  scorer: Scorer,
  { own, negate }: RunParams,
  tally: readonly number[],
): number | null {
  if (!scorer.corpusScore || tally.length === 0) return null
  const score = clamp(scorer.corpusScore(tally, own), scorer.name)
  return negate ? 1 - score : score
}
