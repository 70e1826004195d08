import type { StatBucketRow } from '../tables/stats.ts'

/** Counts of some entries of a ledger. */
export interface Tally {
  readonly rows: readonly Omit<StatBucketRow, 'org_id'>[]
  /** The first entry that was not read. */
  readonly nextSeq: number
}
