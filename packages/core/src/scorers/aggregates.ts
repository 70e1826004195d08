import type { ScoreAggregate } from '@remit/contract'

// The 97.5 % point of the normal distribution: both intervals are at the 95 % level.
const Z = 1.959963984540054
const LEVEL = 0.95

/** The input of the statistics: one per result, null for a missing score. */
export interface ScoredResult {
  readonly score: number | null
  readonly passed: boolean | null
  readonly error?: { readonly code: string } | null
}

/** Returns the statistics of a batch. Results without a score count only as errors. */
export function aggregate(
  results: readonly ScoredResult[],
  corpusScore: number | null,
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
    corpus_score: corpusScore,
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
