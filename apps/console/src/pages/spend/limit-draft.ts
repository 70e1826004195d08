import type { SpendLimit, SpendLimitInput } from '@remit/contract'
import { keptOf } from '../rules/validation.ts'

/** The form of a spend limit: amounts as texts; an empty one is no cap. */
export interface Draft {
  readonly daily: string
  readonly monthly: string
  readonly missing: 'zero' | 'deny'
  /** The stored limit, for members that the form does not show. */
  readonly kept: Partial<SpendLimitInput>
}

export const draftOf = (limit: SpendLimit | null): Draft => ({
  daily: String(limit?.daily_usd ?? ''),
  monthly: String(limit?.monthly_usd ?? ''),
  missing: limit?.on_missing_amount ?? 'zero',
  kept: limit ? keptOf(limit) : {},
})

const amount = (text: string): number | null => (text.trim() === '' ? null : Number(text))

/** The body of the request; the server checks it. */
export const inputOf = ({ daily, monthly, missing, kept }: Draft): SpendLimitInput => ({
  hold_ttl_seconds: null,
  settlement_by_agent: 'at_least_held',
  ...kept,
  daily_usd: amount(daily),
  monthly_usd: amount(monthly),
  on_missing_amount: missing,
})
