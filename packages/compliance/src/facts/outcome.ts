import type { Failure, Outcome } from './meter.ts'
import type { SeqList } from './seqs.ts'

/** An outcome; whether it passed follows from its failures, and over nothing there are none. */
export const outcome = (
  given: Omit<Outcome, 'ok' | 'relaxed'> & { readonly relaxed?: boolean },
): Outcome => {
  const failures = given.population > 0 ? given.failures : []
  return { relaxed: false, ...given, failures, ok: failures.length === 0 }
}

/** What speaks against a check, as one failure; none where the list is empty. */
export const failing = (
  { count, seqs }: Pick<SeqList, 'count' | 'seqs'>,
  params: Failure['params'] = { n: count },
  fixedBy: number | null = null,
): Failure[] => (count === 0 ? [] : [{ params, count, seqs, fixedBy }])
