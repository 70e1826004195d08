/** What an `authorization.decided` entry holds, but for the context of the request. */
export interface DecisionFacts {
  readonly decisionId: string | null
  /** Identifies the rules that decided; null where the entry has none. */
  readonly configVersion: number | null
  readonly plan: string | null
  /** Kinds of what matched (`policy`, `permission`, `approval_rule`, `spend_limit`, …), null without a list. */
  readonly matched: readonly Matched[] | null
  readonly approval: { readonly id: string; readonly status: string } | null
  readonly spend: RecordedSpend | null
  /** What the allow set aside, micro-USD; 0 for nothing. */
  readonly heldMicro: number
}

export interface Matched {
  readonly kind: string
  readonly id: string
}

/** What counted before the request, and the caps it was held against; micro-USD. */
export interface RecordedSpend {
  readonly amountMicro: number | null
  readonly daily: RecordedWindow | null
  readonly monthly: RecordedWindow | null
}

export interface RecordedWindow {
  readonly limitMicro: number
  readonly spentMicro: number
}
