/** Spend limits: caps of the hour, day and month of one agent. Each cap decides like a budget without children. */
import type { Reason, SpendLimit, SpendState } from '@remit/contract'
import { byWindow, fromMicroUsd, toMicroUsd, WINDOWS } from '@remit/contract/values'
import type { ByWindow, Window } from '@remit/contract/values'
import { actorOf } from '@remit/core/caller'
import type { CounterNeed, Counters, Move } from '@remit/core/decision'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Amount } from '../base/seen-context.ts'
import type { SpendLimitRow } from '../tables/schema.ts'
import { laterOf, reachedPercents, roomAt } from './evaluate.ts'
import type { Retry } from './evaluate.ts'
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
export function windowsAt(now: number): Windows {
  const windows: Partial<Record<Window['name'], CalendarTime>> = {}
  for (const { name: window } of WINDOWS)
    windows[window] = timeOf({ window, time_zone: 'UTC' }, now)
  return windows as Windows
}

/** The counters of an agent in all windows. */
export function needsOf(subject: string, windows: Windows, mayEnd: boolean): CounterNeed[] {
  const needs: CounterNeed[] = []
  for (const { name } of WINDOWS) needs.push({ subject, window: windows[name].id, mayEnd })
  return needs
}

/** The moves by which an allow holds an amount, micro-USD. */
export function heldMoves(subject: string, windows: Windows, held: number): Move[] {
  const moves: Move[] = []
  for (const { name } of WINDOWS) moves.push({ subject, window: windows[name].id, used: 0, held })
  return moves
}

/** The used and held amounts of an agent by window, micro-USD. */
export type SpendUsage = Pick<Counters, 'of'>

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
  { agentId, caps, onMissingAmount }: Limit,
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
  let over: { readonly word: Window['word']; readonly cap: number } | undefined
  let retryAt: Retry = 0
  for (const { name, word } of WINDOWS) {
    const cap = caps[name]
    if (cap === null) continue
    const time = windows[name]
    const { used, held } = usage.of(agentId, time.id)
    const left = cap - used - held
    spend[word] = {
      limit_usd: fromMicroUsd(cap),
      spent_usd: fromMicroUsd(used + held),
      remaining_usd: fromMicroUsd(Math.max(0, left)),
      resets_at: time.resetsAt,
    }
    if (cap > 0 && (typeof counted === 'number' ? counted <= left : left > 0)) continue
    over ??= { word, cap }
    const place = { node: { counted: cap, keeps: [] }, subject: agentId, time }
    retryAt = laterOf(retryAt, roomAt(place, counted, usage))
  }
  if (amount === 'invalid') {
    return {
      denied: 'amount_invalid',
      message: 'The amount is not a number of US dollars with at most 6 decimals.',
      spend,
      retryAt: null,
    }
  }
  if (amount === 'missing' && onMissingAmount === 'deny') {
    return {
      denied: 'amount_invalid',
      message: 'The spend limit requires an amount, and the request has none.',
      spend,
      retryAt: null,
    }
  }
  if (!over) return { denied: null, spend }
  const limitUsd = fromMicroUsd(over.cap)
  return {
    denied: `spend_limit_${over.word}`,
    message: `The ${over.word} limit of ${limitUsd} USD would be exceeded.`,
    spend,
    limitUsd,
    retryAt,
  }
}

export const UNCAPPED = byWindow('word', () => null)

/** Shares of a cap that are recorded. */
const WARN_AT = [50, 80, 100] as const

/**
 * Entries for shares of caps that the moves of a batch reach. A share that spend falls below and reaches
 * again is recorded again.
 */
export function thresholdEntries(
  { agentId, caps }: Pick<Limit, 'agentId' | 'caps'>,
  windows: Windows,
  counters: Pick<Counters, 'of'>,
): EntryDraft<'spend.threshold'>[] {
  const entries: EntryDraft<'spend.threshold'>[] = []
  for (const { name } of WINDOWS) {
    const cap = caps[name]
    if (cap === null) continue
    const window = windows[name].id
    const counter = counters.of(agentId, window)
    const { used, held } = counter
    // Nearly all batches end below the first share.
    if ((used + held) / cap < WARN_AT[0] / 100) continue
    for (const percent of reachedPercents(cap, WARN_AT, counter))
      entries.push({
        kind: 'spend.threshold',
        actor: actorOf(null),
        agent_id: agentId,
        data: {
          agent_id: agentId,
          window,
          threshold_percent: percent,
          limit_usd: fromMicroUsd(cap),
          spent_usd: fromMicroUsd(used + held),
        },
      })
  }
  return entries
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
