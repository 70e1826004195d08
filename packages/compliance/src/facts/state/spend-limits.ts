import { toMicroUsd } from '@remit/contract'
import { numberIn, recordIn, textIn } from '../read.ts'
import type { Recorded } from '../read.ts'
import { kept } from './fold.ts'
import type { Folds, Kept } from './fold.ts'

/** The caps of an agent, in micro-USD; null means none. */
export interface SpendLimitState extends Kept {
  readonly dailyMicro: number | null
  readonly monthlyMicro: number | null
}

const microIn = (object: Recorded, name: string): number | null => {
  const usd = numberIn(object, name)
  return usd === null ? null : toMicroUsd(usd)
}

export const spendLimitFolds: Folds = {
  'spend_limit.set': (state, entry) => {
    const object = recordIn(entry.data, 'spend_limit')
    const id = object && textIn(object, 'agent_id')
    if (!object || id === null) return
    state.spendLimits.set(id, {
      ...kept(id, object, entry, state.spendLimits.get(id)),
      dailyMicro: microIn(object, 'daily_usd'),
      monthlyMicro: microIn(object, 'monthly_usd'),
    })
  },
  'spend_limit.removed': (state, { agent_id, data }) => {
    state.spendLimits.delete(agent_id ?? textIn(data, 'agent_id') ?? '')
  },
}
