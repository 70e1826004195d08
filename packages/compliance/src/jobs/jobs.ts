import type { VerifyReport } from '@remit/core'
import type { EvidenceKind, Facts, Question, SeqRun } from '../facts/index.ts'
import type { ReplayResult, ReplayTask } from './replay.ts'

/**
 * Long reading of one ledger, away from the event loop where that can be: each job sees one snapshot of
 * the organization's rows. A job that finds no place in the queue rejects with `jobs_busy` (429, `Retry-After`), one whose thread dies with an error that says so.
 */
export interface Jobs {
  /** Checks the ledger and the reports that are stored about it. Never rejects because of what it finds. */
  verify(orgId: string, options?: VerifyOptions, watch?: JobWatch): Promise<LedgerCheck>
  /** The facts of a period, with the check of the whole ledger that they were read from. */
  report(orgId: string, question: Question, watch?: JobWatch): Promise<ReportFacts>
  /** Sequence numbers of the entries behind one check, or of kinds of evidence, after a place. */
  evidence(orgId: string, query: EvidenceQuery, watch?: JobWatch): Promise<SeqRun>
  /** Judges recorded decisions by other policy rules; null where these are not those of an earlier part. */
  replay(orgId: string, task: ReplayTask, watch?: JobWatch): Promise<ReplayResult | null>
  /** Ends what is under way. */
  close(): Promise<void>
}

export interface JobWatch {
  /** Told from time to time how many of how many entries have been read. */
  readonly onProgress?: (done: number, total: number) => void
  /** Ends the job; it then rejects with the reason. */
  readonly signal?: AbortSignal
}

export interface VerifyOptions {
  /** The first and the last entry to look at; all of them unless given. */
  readonly fromSeq?: number
  readonly toSeq?: number
  /** Signed notes that were kept outside of the database; each must parse. */
  readonly checkpoints?: readonly string[]
}

/** What a verification found. */
export interface LedgerCheck {
  readonly ledger: VerifyReport
  readonly reports: ReportsCheck
  /** Notes that `REMIT_CHECKPOINT_DIR` holds; 0 where it is not set or holds none. */
  readonly anchors: number
  readonly durationMs: number
}

/** The reports that the ledger tells of, against those that are stored. */
export interface ReportsCheck {
  readonly checked: number
  readonly mismatched: number
  /** The first hundred, by sequence number. */
  readonly errors: readonly ReportError[]
  /** The first of each code. */
  readonly first_errors: readonly ReportError[]
  readonly error_count: number
}

export interface ReportError {
  /** The entry that recorded the report, or should have; of a checkpoint, the entry that it names. */
  readonly seq: number
  readonly code: ReportErrorCode
  readonly reportId: string
}

/**
 * `report_missing`: recorded, and not stored. `report_changed`: its bytes or what stands beside
 * them are not what was recorded. `report_unrecorded`: stored, and no entry tells of it.
 * `report_checkpoint`: the entry that it names as the end of the ledger has another hash now, or is missing.
 */
export type ReportErrorCode =
  | 'report_missing'
  | 'report_changed'
  | 'report_unrecorded'
  | 'report_checkpoint'

export interface ReportFacts {
  /** As at the end of the period; the same for the same entries. */
  readonly facts: Facts
  /** The end of the ledger at the moment of reading, for the envelope. */
  readonly head: {
    readonly size: number
    readonly hash: string
    readonly verified: boolean
    readonly first_bad_seq: number | null
    readonly anchors_checked: number
  }
  /** The whole check, also of what came after the period. */
  readonly check: LedgerCheck
}

export interface EvidenceQuery {
  readonly question: Question
  /** A check (`APR-3`), or kinds of evidence (`approval_decisions`). */
  readonly of: { readonly check: string } | { readonly kinds: readonly EvidenceKind[] }
  readonly afterSeq: number | null
  /** The lowest so many, at most. */
  readonly most: number
}
