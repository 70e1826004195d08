import type { SpendLimit, SpendLimitInput } from '@remit/contract'
import { byWindow } from '@remit/contract/values'
import { draftsOf, same } from '../rules/draft.ts'

/** An amount as text; an empty one is no cap. */
const amount = {
  empty: '',
  typed: (value: number | null) => String(value ?? ''),
  value: (typed: string) => (typed.trim() === '' ? null : Number(typed)),
}

export const limitDrafts = draftsOf<SpendLimit, SpendLimitInput>()({
  ...byWindow('cap', () => amount),
  on_missing_amount: same<'zero' | 'deny'>('zero'),
  hold_ttl_seconds: same<number | null>(null),
  settlement_by_agent: same<SpendLimitInput['settlement_by_agent']>('at_least_held'),
})
