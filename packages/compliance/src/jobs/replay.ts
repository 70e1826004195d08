import type { Replay } from '@remit/contract'
import type { Overlay } from '@remit/core'

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

/** One replay as plain data, which a worker thread receives. */
export interface ReplayTask {
  /** URL of the module that opens the trial: see `RuleTrials`. */
  readonly module: string
  readonly overlay: Overlay | null
  /** The period, RFC 3339 in UTC, half-open; or where an earlier replay of it ended. */
  readonly span: { readonly from: string; readonly to: string } | ReplaySpan
  readonly maxDecisions: number
  /** Flips to list. */
  readonly limit: number
  /** Milliseconds after which it ends where it is. */
  readonly maxMs: number
  /** Begins the digest of the rules that an earlier part was judged by; null for the first part. */
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
  /** What is left of the period; null at its end. */
  readonly rest: ReplaySpan | null
}
