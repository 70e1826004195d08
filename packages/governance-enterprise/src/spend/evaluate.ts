import type { Reason, SpendState } from '@remit/contract'
import { byWindow, fromMicroUsd, toMicroUsd, WINDOWS } from '@remit/contract/values'
import type { ByWindow, Window } from '@remit/contract/values'
import { actorOf } from '@remit/core/caller'
import type { CounterNeed, Counters } from '@remit/core/decision'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Amount } from '../base/seen-context.ts'

export const UNCAPPED = byWindow('word', () => null)

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

/** What an agent used and holds in each window, micro-USD. */
export type SpendUsage = Pick<Counters, 'of'>

export type SpendVerdict =
  | { readonly denied: null; readonly spend: SpendState }
  | {
      readonly denied: Reason
      readonly message: string
      readonly spend?: SpendState
      readonly limitUsd?: number
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
    return { denied: 'spend_unavailable', message: 'The spend data of the agent cannot be read.' }
  const spend = describe(limit, amount, usage, windows)
  if (amount === 'invalid') {
    return {
      denied: 'amount_invalid',
      message: 'The amount is not a number of US dollars with at most 6 decimals.',
      spend,
    }
  }
  if (amount === 'missing' && limit.onMissingAmount === 'deny') {
    return {
      denied: 'amount_invalid',
      message: 'The spend limit requires an amount, and the request has none.',
      spend,
    }
  }
  for (const { name, word } of WINDOWS) {
    const cap = limit.caps[name]
    if (cap === null) continue
    const { used, held } = usage.of(limit.agentId, windows[name].id)
    const isOver = amount === 'missing' ? used + held >= cap : used + held + amount.micro > cap
    if (cap > 0 && !isOver) continue
    return {
      denied: `spend_limit_${word}`,
      message: `The ${word} limit of ${fromMicroUsd(cap)} USD would be exceeded.`,
      spend,
      limitUsd: fromMicroUsd(cap),
    }
  }
  return { denied: null, spend }
}

/**
 * Returns when all windows that deny have ended, milliseconds; null if the request can never pass, undefined
 * if nobody knows.
 */
export function retryOf(
  { denied }: SpendVerdict,
  limit: Limit,
  amount: Amount,
  usage: SpendUsage,
  windows: Windows,
): number | null | undefined {
  if (denied === 'spend_unavailable') return undefined
  if (denied === 'amount_invalid') return null
  const micro = typeof amount === 'object' ? amount.micro : 0
  let at: number | null = 0
  for (const { name } of WINDOWS) {
    const cap = limit.caps[name]
    if (cap === null) continue
    const { used, held } = usage.of(limit.agentId, windows[name].id)
    const isOver = typeof amount === 'object' ? used + held + micro > cap : used + held >= cap
    if (cap === 0 || micro > cap) return null
    if (isOver) at = Math.max(at, Date.parse(windows[name].resets))
  }
  return at
}

function describe(limit: Limit, amount: Amount, usage: SpendUsage, windows: Windows): SpendState {
  const amountUsd = typeof amount === 'object' ? fromMicroUsd(amount.micro) : null
  const spend: SpendState = { amount_usd: amountUsd, ...UNCAPPED }
  for (const { name, word } of WINDOWS) {
    const cap = limit.caps[name]
    if (cap === null) continue
    const { used, held } = usage.of(limit.agentId, windows[name].id)
    spend[word] = {
      limit_usd: fromMicroUsd(cap),
      spent_usd: fromMicroUsd(used + held),
      remaining_usd: fromMicroUsd(Math.max(0, cap - used - held)),
      resets_at: windows[name].resets,
    }
  }
  return spend
}

/** The windows of a time: their ids (`2026-11-20`, `2026-11`), and their ends in RFC 3339. */
export type Windows = ByWindow<{
  readonly id: string
  readonly from: string
  readonly resets: string
}>

/** Windows of `nowMs`, milliseconds since the epoch. */
export function windowsAt(nowMs: number): Windows {
  const now = new Date(nowMs)
  const iso = now.toISOString()
  const parts = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), now.getUTCHours()]
  const windows: Partial<Record<Window['name'], Windows['day']>> = {}
  for (const { name, letters } of WINDOWS) {
    const id = iso.slice(0, letters)
    // Year and month for 7 letters, the day for 10: the last of them counts on.
    const end = parts.slice(0, (letters - 1) / 3)
    end.push((end.pop() ?? 0) + 1)
    const resets = new Date(Date.UTC(...(end as [number, number]))).toISOString()
    windows[name] = { id, from: id + START.slice(letters), resets }
  }
  return windows as Windows
}

const START = '0000-01-01T00:00:00.000Z'

/** The counters of an agent in all windows. */
export function needsOf(agentId: string, windows: Windows, mayEnd: boolean): CounterNeed[] {
  const needs: CounterNeed[] = []
  for (const { name } of WINDOWS) needs.push({ subject: agentId, window: windows[name].id, mayEnd })
  return needs
}

/** Shares of a cap that are recorded. As fractions: percent of a large cap exceeds 2^53. */
const THRESHOLDS = [
  { percent: 50, times: 1, over: 2 },
  { percent: 80, times: 4, over: 5 },
  { percent: 100, times: 1, over: 1 },
] as const

/**
 * Entries for shares of caps that the moves of a batch reach. A share that spend falls below and reaches
 * again is recorded again.
 */
export function thresholdEntries(
  { agentId, caps }: Pick<Limit, 'agentId' | 'caps'>,
  windows: ByWindow<{ readonly id: string }>,
  counters: Pick<Counters, 'of'>,
): EntryDraft<'spend.threshold'>[] {
  const entries: EntryDraft<'spend.threshold'>[] = []
  for (const { name } of WINDOWS) {
    const cap = caps[name]
    if (cap === null) continue
    const { before, used, held } = counters.of(agentId, windows[name].id)
    for (const { percent, times, over } of THRESHOLDS) {
      if (before * over >= cap * times || cap * times > (used + held) * over) continue
      entries.push({
        kind: 'spend.threshold',
        actor: actorOf(null),
        agent_id: agentId,
        data: {
          agent_id: agentId,
          window: windows[name].id,
          threshold_percent: percent,
          limit_usd: fromMicroUsd(cap),
          spent_usd: fromMicroUsd(used + held),
        },
      })
    }
  }
  return entries
}
