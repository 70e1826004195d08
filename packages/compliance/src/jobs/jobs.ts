import type { VerifyReport } from '@remit/core/ledger/records'
import type { Failure } from '@remit/core/base'
import type { Replay } from '@remit/contract'
import type { Overlay } from '@remit/core/decision'
import type { EvidenceKind, PeriodFacts, FactsQuery, SeqRun } from '../facts/index.ts'
import type { StatBucketRow } from '../tables/stats.ts'

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

/** One job, as sent to a thread. */
export type Task = { readonly orgId: string; readonly trust: VerificationTrust } & (
  | { readonly kind: 'verify'; readonly options: VerifyOptions }
  | { readonly kind: 'report'; readonly question: FactsQuery }
  | { readonly kind: 'evidence'; readonly query: EvidenceRequest }
  | { readonly kind: 'replay'; readonly replay: ReplayTask }
  | { readonly kind: 'tally'; readonly fromSeq: number }
)

/** A message of a thread: loaded, progress, result or error. */
export type JobMessage =
  | { readonly ready: true }
  | { readonly done: number; readonly total: number }
  | { readonly result: unknown }
  | { readonly refused: Pick<Failure, 'code' | 'message' | 'extras'> }
  | { readonly failed: SentError }

/** An error in transfer: its class is lost, and its members are sent by name. */
interface SentError {
  readonly message: string
  readonly stack: string | undefined
  readonly code: string | undefined
}

export function toSend(error: unknown): SentError {
  if (!(error instanceof Error))
    return { message: String(error), stack: undefined, code: undefined }
  const { code } = error as { code?: unknown }
  return {
    message: error.message,
    stack: error.stack,
    code: typeof code === 'string' ? code : undefined,
  }
}

export function received({ message, stack, code }: SentError): Error {
  const error = new Error(message)
  if (stack !== undefined) error.stack = stack
  return code === undefined ? error : Object.assign(error, { code })
}

/** Counts of some entries of a ledger. */
export interface Tally {
  readonly rows: readonly Omit<StatBucketRow, 'org_id'>[]
  /** The first entry that was not read. */
  readonly nextSeq: number
}

/** Keys and checkpoints from outside the database, for verifying a ledger. */
export interface VerificationTrust {
  /** The server's own verifier key. */
  readonly vkeys: readonly string[]
  /** Notes from the checkpoint folder. */
  readonly anchors: readonly string[]
  /** Those of `anchors` that the witness must have signed, but did not. */
  readonly unwitnessed?: readonly string[]
  /** Sentences about unreadable parts of that folder. */
  readonly unread: readonly string[]
  /** The configured folder contains nothing for this ledger. */
  readonly none?: boolean
}

/** The counts of a replay. */
export type ReplayCounts = Pick<
  Replay,
  | 'decisions'
  | 'first_seq'
  | 'last_seq'
  | 'unchanged'
  | 'flipped'
  | 'not_replayable'
  | 'rules'
  | 'rules_omitted'
  | 'flips'
  | 'flips_omitted'
>

/** One replay as plain data, for a worker thread. */
export interface ReplayTask {
  /** The URL of the module that opens the trial: see `RuleTrials`. */
  readonly module: string
  readonly overlay: Overlay | null
  /** The half-open period, RFC 3339 in UTC; or the remaining span of an earlier part. */
  readonly span: { readonly from: string; readonly to: string } | ReplaySpan
  readonly maxDecisions: number
  /** The maximum number of flips to list. */
  readonly limit: number
  /** Milliseconds after which the replay stops. */
  readonly maxMs: number
  /** The digest prefix of the rules of an earlier part; null for the first part. */
  readonly digest: string | null
}

/** Sequence numbers, half-open. */
export interface ReplaySpan {
  readonly fromSeq: number
  readonly endSeq: number
}

export interface ReplayResult {
  readonly counts: ReplayCounts
  readonly judgedBy: {
    readonly policies: number
    readonly approvalRules: number
    readonly defaultEffect: 'allow' | 'deny'
    readonly digest: string
  }
  /** The remaining span of the period; null at its end. */
  readonly rest: ReplaySpan | null
}
