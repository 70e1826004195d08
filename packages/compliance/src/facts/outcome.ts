import type { CheckFailure, CheckOutcome } from './meter.ts'
import type { SeqList } from './seqs.ts'

/** Builds an outcome; it passes if it has no failures. */
export const outcome = (
  given: Omit<CheckOutcome, 'ok' | 'relaxed'> & { readonly relaxed?: boolean },
): CheckOutcome => {
  const failures = given.population > 0 ? given.failures : []
  return { relaxed: false, ...given, failures, ok: failures.length === 0 }
}

/** Combines the failures of a check into one; none if the list is empty. */
export const failing = (
  { count, seqs }: Pick<SeqList, 'count' | 'seqs'>,
  params: CheckFailure['params'] = { n: count },
  fixedBy: number | null = null,
): CheckFailure[] => (count === 0 ? [] : [{ params, count, seqs, fixedBy }])
