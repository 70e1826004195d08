import { toMicroUsd } from '@remit/contract/values'
import { numberIn, recordIn, textIn } from '../recorded-json.ts'
import type { RecordedJson } from '../recorded-json.ts'
import { recordedObject } from './reducer.ts'
import type { Reducers, RecordedObject } from './reducer.ts'

/** The caps of an agent, in micro-USD; null means none. */
export interface SpendLimitState extends RecordedObject {
  readonly dailyMicro: number | null
  readonly monthlyMicro: number | null
}

const microIn = (object: RecordedJson, name: string): number | null => {
  const usd = numberIn(object, name)
  return usd === null ? null : toMicroUsd(usd)
}

export const spendLimitReducers: Reducers = {
  'spend_limit.set': (state, entry) => {
    const object = recordIn(entry.data, 'spend_limit')
    const id = object && textIn(object, 'agent_id')
    if (!object || id === null) return
    state.spendLimits.set(id, {
      ...recordedObject(id, object, entry, state.spendLimits.get(id)),
      dailyMicro: microIn(object, 'daily_usd'),
      monthlyMicro: microIn(object, 'monthly_usd'),
    })
  },
  'spend_limit.removed': (state, { agent_id, data }) => {
    state.spendLimits.delete(agent_id ?? textIn(data, 'agent_id') ?? '')
  },
}
