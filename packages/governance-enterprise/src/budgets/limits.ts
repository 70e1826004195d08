/** Spend limits: caps of the hour, day and month of one agent. Each cap decides like a budget without children. */
import type { Reason, SpendLimit, SpendState } from '@remit/contract'
import { byWindow, fromMicroUsd, toMicroUsd, WINDOWS } from '@remit/contract/values'
import type { ByWindow, Window } from '@remit/contract/values'
import { actorOf } from '@remit/core/caller'
import type { CounterNeed, Counters } from '@remit/core/decision'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Amount } from '../base/seen-context.ts'
import type { SpendLimitRow } from '../tables/schema.ts'
import { fits, laterOf, reachedPercents, roomAt, sumOf, takenOf } from './evaluate.ts'
import type { Retry, Taken } from './evaluate.ts'
import { timeOf } from './windows.ts'
import type { CalendarTime } from './windows.ts'

/** A compiled limit; caps are micro-USD. */
export interface Limit {
  readonly agentId: string
  readonly caps: ByWindow<number | null>
  readonly onMissingAmount: 'zero' | 'deny'
  readonly holdTtlSeconds: number | null
}

/** A cap in micro-USD; null for none. */
export const microOf = (usd: number | null): number | null =>
  usd === null ? null : toMicroUsd(usd)

/** The windows of limits at a time. They are those of UTC. */
export type Windows = ByWindow<CalendarTime>

/** Windows of `now`, milliseconds since the epoch. */
export const windowsAt = (now: number): Windows =>
  byWindow('name', ({ name: window }) => timeOf({ window, time_zone: 'UTC' }, now))

/** The counters of an agent in all windows. */
export const needsOf = (subject: string, windows: Windows, mayEnd: boolean): CounterNeed[] =>
  WINDOWS.map(({ name }) => ({ subject, window: windows[name].id, mayEnd }))

/** What an agent used and holds in each window, micro-USD. */
export type SpendUsage = Pick<Counters, 'of'>

/** A cap in a window, as a place of a budget. */
interface Cap {
  readonly word: Window['word']
  readonly node: { readonly counted: number; readonly keeps: readonly [] }
  readonly subject: string
  readonly time: CalendarTime
}

/** The caps of a limit, those of the shortest window first. */
function capsOf({ agentId, caps }: Pick<Limit, 'agentId' | 'caps'>, windows: Windows): Cap[] {
  const all: Cap[] = []
  for (const { name, word } of WINDOWS) {
    const counted = caps[name]
    if (counted === null) continue
    all.push({ word, node: { counted, keeps: [] }, subject: agentId, time: windows[name] })
  }
  return all
}

export type SpendVerdict =
  | { readonly denied: null; readonly spend: SpendState }
  | {
      readonly denied: Reason
      readonly message: string
      readonly spend?: SpendState
      readonly limitUsd?: number
      readonly retryAt: Retry
    }

/**
 * Returns whether a limit allows an amount: `used + held + amount > cap` denies; without an amount
 * `used + held >= cap` denies; a cap of 0 denies everything. Unknown usage (null) denies. The shortest
 * window that denies gives the reason.
 */
export function evaluateSpend(
  limit: Limit,
  amount: Amount,
  usage: SpendUsage | null,
  windows: Windows,
): SpendVerdict {
  if (usage === null)
    return {
      denied: 'spend_unavailable',
      message: 'The spend data of the agent cannot be read.',
      retryAt: undefined,
    }
  const counted = typeof amount === 'object' ? amount.micro : amount
  const spend: SpendState = { amount_usd: null, ...UNCAPPED }
  if (typeof counted === 'number') spend.amount_usd = fromMicroUsd(counted)
  let over: Cap | undefined
  let retryAt: Retry = 0
  for (const cap of capsOf(limit, windows)) {
    const taken = takenOf(cap, usage)
    spend[cap.word] = stateOf(cap, taken)
    if (fits(cap.node, counted, taken)) continue
    over ??= cap
    retryAt = laterOf(retryAt, roomAt(cap, counted, usage))
  }
  if (amount === 'invalid') {
    return {
      denied: 'amount_invalid',
      message: 'The amount is not a number of US dollars with at most 6 decimals.',
      spend,
      retryAt: null,
    }
  }
  if (amount === 'missing' && limit.onMissingAmount === 'deny') {
    return {
      denied: 'amount_invalid',
      message: 'The spend limit requires an amount, and the request has none.',
      spend,
      retryAt: null,
    }
  }
  if (!over) return { denied: null, spend }
  const limitUsd = fromMicroUsd(over.node.counted)
  return {
    denied: `spend_limit_${over.word}`,
    message: `The ${over.word} limit of ${limitUsd} USD would be exceeded.`,
    spend,
    limitUsd,
    retryAt,
  }
}

export const UNCAPPED = byWindow('word', () => null)

const stateOf = ({ node, time }: Cap, { used, held }: Taken) => ({
  limit_usd: fromMicroUsd(node.counted),
  spent_usd: fromMicroUsd(used + held),
  remaining_usd: fromMicroUsd(Math.max(0, node.counted - used - held)),
  resets_at: time.resetsAt,
})

/** Shares of a cap that are recorded. */
const WARN_AT = [50, 80, 100]

/**
 * Entries for shares of caps that the moves of a batch reach. A share that spend falls below and reaches
 * again is recorded again.
 */
export function thresholdEntries(
  limit: Pick<Limit, 'agentId' | 'caps'>,
  windows: Windows,
  counters: Pick<Counters, 'of'>,
): EntryDraft<'spend.threshold'>[] {
  const { agentId } = limit
  return capsOf(limit, windows).flatMap(({ node, time }) => {
    const sum = sumOf(counters, agentId, time)
    return reachedPercents(node.counted, WARN_AT, sum).map((percent) => ({
      kind: 'spend.threshold' as const,
      actor: actorOf(null),
      agent_id: agentId,
      data: {
        agent_id: agentId,
        window: time.id,
        threshold_percent: percent,
        limit_usd: fromMicroUsd(node.counted),
        spent_usd: fromMicroUsd(sum.used + sum.held),
      },
    }))
  })
}

/** A limit in an entry. */
export const recordedLimit = (row: SpendLimitRow): Omit<SpendLimit, 'spent' | 'ledger'> => ({
  agent_id: row.agent_id,
  ...byWindow('cap', ({ word }) => {
    const micro = row[`${word}_micro`]
    return micro === null ? null : fromMicroUsd(micro)
  }),
  on_missing_amount: row.on_missing_amount === 'deny' ? 'deny' : 'zero',
  hold_ttl_seconds: row.hold_ttl_seconds,
  settlement_by_agent: row.settlement_by_agent === 'any' ? 'any' : 'at_least_held',
  created_at: row.created_at,
  created_by: row.created_by,
  updated_at: row.updated_at,
})
