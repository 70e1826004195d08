/**
 * How much tests that repeat themselves do: all of it with `REMIT_TEST_RUNS=full`, as `.ci/run` sets
 * it; otherwise a fifth, with other values in every run.
 */
export const isFullRun: boolean = process.env['REMIT_TEST_RUNS'] === 'full'

const SHARE = 5
const LEAST = 20

/** How often a test repeats itself: `full` times, or a fifth of that but at least `least` times. */
export const runs = (full: number, least = LEAST): number =>
  isFullRun ? full : Math.min(full, Math.max(least, Math.ceil(full / SHARE)))

/** All cases, or every fifth of them, beginning anywhere. */
export function sampled<T>(cases: readonly T[]): readonly T[] {
  if (isFullRun) return cases
  const first = Math.floor(Math.random() * SHARE)
  return cases.filter((_, at) => at % SHARE === first)
}
