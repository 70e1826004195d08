import type { Replay } from '@remit/contract'
import type { Overlay } from '@remit/core/decision'

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
