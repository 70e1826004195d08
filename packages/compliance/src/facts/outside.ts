/** What the verification of the chain says, as far as the end of the period is concerned. */
export interface ChainFacts {
  /** Where verification began: 0, or after what was pruned; null without an entry. */
  readonly verifiedFromSeq: number | null
  /** No entry from this time on was pruned, milliseconds; null where none ever was. */
  readonly keptFrom: number | null
  /** The first wrong entry at or before the last one of the period. */
  readonly firstBadSeq: number | null
  /** The hash of the last entry before the end of the period; null without one. */
  readonly hashAtLast: string | null
  /** Runs of missing sequence numbers up to there, and entries that are dated before the one before. */
  readonly gaps: number
  readonly regressions: number
  /** Checkpoints recorded before the end of the period that were compared. */
  readonly checkpoints: number
  /** Those that disagree, also later ones, by sequence number. */
  readonly mismatches: readonly CheckpointMismatch[]
}

export interface CheckpointMismatch {
  /** The entry whose hash is another now, or that is missing. */
  readonly seq: number
  /** Who kept the checkpoint: the id of a report, or where it was kept. */
  readonly keptBy: string
}

/** A report that the ledger tells of, as its entry and what is stored compare. */
export interface RecordedReport {
  /** The entry `report.generated`. */
  readonly seq: number
  /** Milliseconds. */
  readonly time: number
  readonly reportId: string
  readonly intact: boolean
}

/** Facts that are not in the entries. */
export interface Outside {
  readonly chain: ChainFacts
  readonly reports: readonly RecordedReport[]
}

/** A chain about which nothing is known to be wrong. */
export const SOUND: ChainFacts = {
  verifiedFromSeq: 0,
  keptFrom: null,
  firstBadSeq: null,
  hashAtLast: null,
  gaps: 0,
  regressions: 0,
  checkpoints: 0,
  mismatches: [],
}
