/** What an `authorization.decided` entry holds, without the context of the request. */
export interface DecisionFacts {
  /** Identifies the rules that decided; null where the entry has none. */
  readonly configVersion: number | null
  readonly plan: string | null
  /** How many rules and grants matched; null where the entry has no list of them. */
  readonly matches: number | null
  /** Something that governs was among them: a policy, a permission or an approval rule. */
  readonly isGoverned: boolean
  /** What matched; empty without a list. */
  readonly matched: readonly Matched[]
  readonly approval: { readonly id: string; readonly status: string } | null
  readonly spend: RecordedSpend | null
  /** It named an amount that was none in USD, and no limit was there to refuse it. */
  readonly hasInvalidAmount: boolean
  /** What the allow set aside, micro-USD; 0 for nothing. */
  readonly heldMicro: number
  /** A member of the context of the request, where it is text; null for anything else. */
  contextText(name: string): string | null
}

export interface Matched {
  readonly kind: string
  readonly id: string
}

/** Kinds of matches that govern; a spend limit or a setting does not say that something is right. */
export const GOVERNING: ReadonlySet<string> = new Set(['policy', 'permission', 'approval_rule'])

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
