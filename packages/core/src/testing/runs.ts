/**
 * The extent of repeated tests: all with `REMIT_TEST_RUNS=full`, as in CI; otherwise a fifth, with
 * different values in every run.
 */
export const isFullRun: boolean = process.env['REMIT_TEST_RUNS'] === 'full'

const SHARE = 5
const LEAST = 20

/** Returns the number of repetitions: `full`, or a fifth of that but at least `least`. */
export const runs = (full: number, least = LEAST): number =>
  isFullRun ? full : Math.min(full, Math.max(least, Math.ceil(full / SHARE)))

/** Returns all cases, or every fifth of them from a random start. */
export function sampled<T>(cases: readonly T[]): readonly T[] {
  if (isFullRun) return cases
  const first = Math.floor(Math.random() * SHARE)
  return cases.filter((_, at) => at % SHARE === first)
}
