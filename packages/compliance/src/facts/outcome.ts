import type { Cases } from './cases.ts'
import type { CheckFailure, CheckOutcome } from './meter.ts'
import type { SeqList } from './seqs.ts'

interface GivenOutcome extends Omit<CheckOutcome, 'ok' | 'relaxed' | 'days'> {
  readonly relaxed?: boolean
  /** The cases that `least` of the catalogue counts, with their days. */
  readonly cases?: Cases
}

/** Builds an outcome; it passes if it has no failures. */
export const outcome = ({ cases, ...given }: GivenOutcome): CheckOutcome => {
  const failures = given.population > 0 ? given.failures : []
  const counted = cases && { basis: cases.count, days: cases.days }
  return { relaxed: false, ...given, ...counted, failures, ok: failures.length === 0 }
}

/** Combines the failures of a check into one; none if the list is empty. */
export const failing = (
  { count, seqs }: Pick<SeqList, 'count' | 'seqs'>,
  params: CheckFailure['params'] = { n: count },
  fixedBy: number | null = null,
): CheckFailure[] => (count === 0 ? [] : [{ params, count, seqs, fixedBy }])
