import type { VerifyReport } from '@remit/core/ledger/records'
import type { EvidenceKind, PeriodFacts, FactsQuery, SeqRun } from '../facts/index.ts'
import type { Tally } from './tally.ts'
import type { ReplayResult, ReplayTask } from './replay.ts'

/**
 * Long-running reads of one ledger, in worker threads where possible. Each job reads one snapshot
 * of the organization's rows. A job without a place in the queue rejects with `jobs_busy` (429,
 * `Retry-After`); a job whose thread dies rejects with an error.
 */
export interface Jobs {
  /** Verifies the ledger and the stored reports about it. Never rejects because of its findings. */
  verify(orgId: string, options?: VerifyOptions, watch?: JobWatch): Promise<LedgerCheck>
  /** Reads the facts of a period, with the check of the whole ledger. */
  report(orgId: string, question: FactsQuery, watch?: JobWatch): Promise<ReportFacts>
  /**
   * Returns the sequence numbers of the entries behind one check or evidence kinds, after a
   * position.
   */
  evidence(orgId: string, query: EvidenceRequest, watch?: JobWatch): Promise<SeqRun>
  /**
   * Evaluates recorded decisions under other policy rules; null if the rules differ from those of
   * an earlier part.
   */
  replay(orgId: string, task: ReplayTask, watch?: JobWatch): Promise<ReplayResult | null>
  /** Counts the decisions of a ledger from an entry on, up to some thousand entries. */
  tally(orgId: string, fromSeq: number): Promise<Tally>
  /** Ends running jobs. */
  close(): Promise<void>
}

export interface JobWatch {
  /** Receives the number of read entries and the total occasionally. */
  readonly onProgress?: (done: number, total: number) => void
  /** Ends the job, which then rejects with the reason. */
  readonly signal?: AbortSignal
}

export interface VerifyOptions {
  /** The first and last entry to verify; all by default. */
  readonly fromSeq?: number
  readonly toSeq?: number
  /** Signed notes kept outside the database; each must parse. */
  readonly checkpoints?: readonly string[]
}

/** The result of a verification. */
export interface LedgerCheck {
  readonly ledger: VerifyReport
  readonly reports: ReportsCheck
  /** The number of notes in `REMIT_CHECKPOINT_DIR`; 0 if it is not set or has none. */
  readonly anchors: number
  readonly durationMs: number
}

/** The reports in the ledger, compared with the stored ones. */
export interface ReportsCheck {
  readonly checked: number
  readonly mismatched: number
  /** The first hundred, by sequence number. */
  readonly errors: readonly StoredReportError[]
  /** The first error of each code. */
  readonly first_errors: readonly StoredReportError[]
  readonly error_count: number
}

export interface StoredReportError {
  /** The entry that recorded the report, or should have; for a checkpoint, the entry that it names. */
  readonly seq: number
  readonly code: StoredReportErrorCode
  readonly reportId: string
}

/**
 * `report_missing`: recorded but not stored. `report_changed`: its bytes or columns differ from the
 * record. `report_unrecorded`: stored, but without an entry. `report_checkpoint`: the entry that it
 * names as the end of the ledger has another hash or is missing.
 */
export type StoredReportErrorCode =
  | 'report_missing'
  | 'report_changed'
  | 'report_unrecorded'
  | 'report_checkpoint'

export interface ReportFacts {
  /** As at the end of the period; equal for equal entries. */
  readonly facts: PeriodFacts
  /** The end of the ledger when it was read, for the envelope. */
  readonly head: {
    readonly size: number
    readonly hash: string
    readonly verified: boolean
    readonly first_bad_seq: number | null
    readonly anchors_checked: number
  }
  /** The whole check, including entries after the period. */
  readonly check: LedgerCheck
}

export interface EvidenceRequest {
  readonly question: FactsQuery
  /** A check (`APR-3`), or kinds of evidence (`approval_decisions`). */
  readonly of: { readonly check: string } | { readonly kinds: readonly EvidenceKind[] }
  readonly afterSeq: number | null
  /** The maximum count; the lowest numbers are returned. */
  readonly most: number
}
