/** The result of the chain verification up to the end of the period. */
export interface ChainFacts {
  /** The first verified entry: 0, or the cut; null without an entry. */
  readonly verifiedFromSeq: number | null
  /** Milliseconds from which no entry was pruned; null if none ever was. */
  readonly keptFrom: number | null
  /** The first invalid entry up to the last one of the period. */
  readonly firstBadSeq: number | null
  /** The hash of the last entry before the end of the period; null without one. */
  readonly hashAtLast: string | null
  /** Runs of missing sequence numbers up to that entry, and entries dated before their predecessor. */
  readonly gaps: number
  readonly regressions: number
  /** Checkpoints recorded before the end of the period that were compared. */
  readonly checkpoints: number
  /** Those that disagree, including later ones, by sequence number. */
  readonly mismatches: readonly CheckpointMismatch[]
}

export interface CheckpointMismatch {
  /** The entry whose hash differs or that is missing. */
  readonly seq: number
  /** The source of the checkpoint: the id of a report, or its location. */
  readonly keptBy: string
}

/** A report in the ledger, and how its entry compares with the stored rows. */
export interface RecordedReport {
  /** The entry `report.generated`. */
  readonly seq: number
  /** Milliseconds. */
  readonly time: number
  readonly reportId: string
  readonly intact: boolean
}

/** Facts that entries do not contain. */
export interface ExternalFacts {
  readonly chain: ChainFacts
  readonly reports: readonly RecordedReport[]
}

/** A chain without known faults. */
export const VALID_CHAIN: ChainFacts = {
  verifiedFromSeq: 0,
  keptFrom: null,
  firstBadSeq: null,
  hashAtLast: null,
  gaps: 0,
  regressions: 0,
  checkpoints: 0,
  mismatches: [],
}
