import type { Cases } from './facts.ts'
import type { CheckFailure, CheckOutcome } from './meter.ts'
import { LowestSeqs } from './seqs.ts'
import type { SeqGatherer } from './seqs.ts'

interface Measured extends Pick<CheckOutcome, 'population' | 'basis' | 'threshold'> {
  /** By default the number of failing entries. */
  readonly value?: CheckOutcome['value']
  /** The cases that `least` of the catalogue counts, with their days. */
  readonly cases?: Cases
  /** False for failing entries that the check tolerates. */
  readonly fails?: boolean
  /** The parameters and the correction of the one failure that combines the entries. */
  readonly params?: CheckFailure['params']
  readonly fixedBy?: number | null
  /** Other failures than that one. */
  readonly failures?: readonly CheckFailure[]
}

/** The entries that fail a check. */
export class CheckEntries extends LowestSeqs {
  readonly #check: string
  readonly #relaxed: boolean

  constructor(check: string, relaxed: boolean, also: SeqGatherer | null) {
    super(also)
    this.#check = check
    this.#relaxed = relaxed
  }

  /** The outcome of the check; it passes if it has no failures. */
  outcome(measured: Measured): CheckOutcome {
    const { cases, fails = true, params, fixedBy, value, failures: others, ...given } = measured
    const found = others ?? (fails ? failing(this, params, fixedBy) : [])
    const failures = given.population > 0 ? found : []
    return {
      check: this.#check,
      relaxed: this.#relaxed,
      value: value === undefined ? { count: this.count } : value,
      ...given,
      ...(cases && { basis: cases.count, days: cases.days }),
      failures,
      ok: failures.length === 0,
    }
  }
}

/** Combines the failures of a check into one; none if the list is empty. */
export const failing = (
  { count, seqs }: Pick<LowestSeqs, 'count' | 'seqs'>,
  params: CheckFailure['params'] = { n: count },
  fixedBy: number | null = null,
): CheckFailure[] => (count === 0 ? [] : [{ params, count, seqs, fixedBy }])
