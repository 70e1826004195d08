const extent = process.env['REMIT_TEST_RUNS']
// A run of a part would pass for a full one.
if (extent !== undefined && extent !== 'full' && extent !== 'complete')
  throw new Error('REMIT_TEST_RUNS must be full or complete')

/** `REMIT_TEST_RUNS=complete`: all repetitions, all cases, each test on both databases, and each combination of two lists. */
export const isCompleteRun: boolean = extent === 'complete'

/**
 * `REMIT_TEST_RUNS=full`, as in `pnpm check`, or a complete run: all tests that every change must pass. Otherwise a
 * part, with different values in every run.
 */
export const isFullRun: boolean = extent === 'full' || isCompleteRun

/**
 * Returns whether this is a full run, and says that the tests are skipped if not: those that start many
 * programs, or that take long and that few changes can break.
 */
export function inFullRun(tests: string): boolean {
  if (!isFullRun) process.stderr.write(`skipped: ${tests} needs REMIT_TEST_RUNS=full\n`)
  return isFullRun
}

const RUNS_SHARE = 20
const LEAST = 10
const CASES_SHARE = 5
const CASES_SHARE_OF_FULL = 2

/**
 * Returns the number of repetitions: `all` in a complete run, otherwise a twentieth of them, but at least
 * `least`.
 */
export const runs = (all: number, least = LEAST): number =>
  isCompleteRun ? all : Math.min(all, Math.max(least, Math.ceil(all / RUNS_SHARE)))

/**
 * Returns one combination of two lists for each value of `first`, with the values of `second` in turn from
 * a random start; in a complete run all. Every value of both occurs if `first` is not the shorter list.
 */
export function pairs<A, B>(first: readonly A[], second: readonly B[]): (readonly [A, B])[] {
  const start = Math.floor(Math.random() * second.length)
  return first.flatMap((one, at) =>
    second
      .filter((_, other) => isCompleteRun || other === (start + at) % second.length)
      .map((other) => [one, other] as const),
  )
}

/**
 * Returns one in `share` of the cases from a random start; in a full run one in `full`, and in a complete run all.
 * With `full` 1, a full run has the whole list, as it must for attacks and for cases of known faults.
 */
export function sampled<T>(
  cases: readonly T[],
  share = CASES_SHARE,
  full = CASES_SHARE_OF_FULL,
): readonly T[] {
  const every = isCompleteRun ? 1 : isFullRun ? full : share
  const first = Math.floor(Math.random() * Math.min(every, cases.length))
  return cases.filter((_, at) => at % every === first)
}
