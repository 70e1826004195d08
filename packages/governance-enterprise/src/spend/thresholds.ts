import { fromMicroUsd } from '@remit/contract/values'
import { actorOf } from '@remit/core/caller'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import { monthOf } from './evaluate.ts'
import type { Limit, SpendUsage, Windows } from './evaluate.ts'

/** The caps of an agent; micro-USD. */
export type Caps = Pick<Limit, 'agentId' | 'dailyMicro' | 'monthlyMicro'>

/** The usage in each window, spent and held together; micro-USD. */
export interface CountedSpend {
  readonly day: number
  readonly month: number
}

/** Shares of a cap that are recorded. As fractions: percent of a large cap exceeds 2^53. */
const THRESHOLDS = [
  { percent: 50, times: 1, over: 2 },
  { percent: 80, times: 4, over: 5 },
  { percent: 100, times: 1, over: 1 },
] as const

/**
 * Entries for shares of caps that are newly reached. A share that spend falls below and reaches
 * again is recorded again.
 */
export function thresholdEntries(
  caps: Caps,
  windows: Pick<Windows, 'day' | 'month'>,
  before: CountedSpend,
  after: CountedSpend,
): EntryDraft<'spend.threshold'>[] {
  return [
    ...crossings(caps.agentId, windows.day, caps.dailyMicro, before.day, after.day),
    ...crossings(caps.agentId, windows.month, caps.monthlyMicro, before.month, after.month),
  ]
}

function crossings(
  agentId: string,
  window: string,
  cap: number | null,
  before: number,
  after: number,
): EntryDraft<'spend.threshold'>[] {
  if (cap === null) return []
  return THRESHOLDS.flatMap(({ percent, times, over }) =>
    before * over < cap * times && cap * times <= after * over
      ? [
          {
            kind: 'spend.threshold',
            actor: actorOf(null),
            agent_id: agentId,
            data: {
              agent_id: agentId,
              window,
              threshold_percent: percent,
              limit_usd: fromMicroUsd(cap),
              spent_usd: fromMicroUsd(after),
            },
          },
        ]
      : [],
  )
}

/** The same for holds that `usage` already includes; agents without a limit are skipped. */
export function thresholdsOfHolds(
  holds: readonly { readonly agent_id: string; readonly held_micro: number }[],
  limits: ReadonlyMap<string, Caps>,
  usage: ReadonlyMap<string, SpendUsage | null>,
  windows: Windows,
): EntryDraft<'spend.threshold'>[] {
  const added = new Map<string, number>()
  for (const { agent_id, held_micro } of holds) {
    if (held_micro > 0 && usage.has(agent_id))
      added.set(agent_id, (added.get(agent_id) ?? 0) + held_micro)
  }
  return [...added].flatMap(([agentId, micro]) => {
    const caps = limits.get(agentId)
    const known = usage.get(agentId)
    if (!caps || !known) return []
    const after = {
      day: known.day.spent + known.day.held,
      month: known.month.spent + known.month.held,
    }
    const before = { day: after.day - micro, month: after.month - micro }
    return thresholdEntries(caps, windows, before, after)
  })
}

/** Micro-USD of movements or holds in each window. */
export function countedIn(
  windows: Pick<Windows, 'day' | 'month'>,
  amounts: readonly { readonly day: string; readonly micro: number }[],
): CountedSpend {
  let [day, month] = [0, 0]
  for (const amount of amounts) {
    if (amount.day === windows.day) day += amount.micro
    if (monthOf(amount.day) === windows.month) month += amount.micro
  }
  return { day, month }
}
