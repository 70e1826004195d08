import { toMicroUsd } from '@remit/contract/values'
import { GOVERNING } from './decision.ts'
import type { DecisionFacts, RecordedSpend, RecordedWindow } from './decision.ts'
import { numberIn, recordIn, recordsIn, textIn } from './recorded-json.ts'
import type { RecordedJson } from './recorded-json.ts'

/** Reads the data of a decision from parsed JSON. `DecisionEntry` must return the same. */
export function decisionOf(data: RecordedJson): DecisionFacts {
  const approval = recordIn(data, 'approval')
  const id = approval && textIn(approval, 'id')
  const version = numberIn(data, 'config_version')
  const matched = recordsIn(data, 'matched').map((one) => ({
    kind: textIn(one, 'kind') ?? '',
    id: textIn(one, 'id') ?? '',
  }))
  return {
    configVersion: Number.isSafeInteger(version) ? version : null,
    plan: textIn(data, 'plan'),
    matches: Array.isArray(data['matched']) ? matched.length : null,
    isGoverned: matched.some(({ kind }) => GOVERNING.has(kind)),
    matched,
    approval: approval && id !== null ? { id, status: textIn(approval, 'status') ?? '' } : null,
    spend: spendOf(recordIn(data, 'spend')),
    hasInvalidAmount: data['amount_invalid'] === true,
    heldMicro: holdOf(recordIn(data, 'hold')),
    contextText: (name) => textIn(recordIn(data, 'context') ?? {}, name),
  }
}

function spendOf(spend: RecordedJson | null): RecordedSpend | null {
  if (!spend) return null
  return {
    amountMicro: microIn(spend, 'amount_usd'),
    daily: windowOf(recordIn(spend, 'daily')),
    monthly: windowOf(recordIn(spend, 'monthly')),
  }
}

const holdOf = (hold: RecordedJson | null): number => (hold && microIn(hold, 'usd')) ?? 0

function windowOf(window: RecordedJson | null): RecordedWindow | null {
  const limitMicro = window && microIn(window, 'limit_usd')
  const spentMicro = window && microIn(window, 'spent_usd')
  return limitMicro !== null && spentMicro !== null ? { limitMicro, spentMicro } : null
}

function microIn(from: RecordedJson, name: string): number | null {
  const usd = numberIn(from, name)
  return usd === null ? null : toMicroUsd(usd)
}
