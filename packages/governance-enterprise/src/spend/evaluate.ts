import type { Reason, SpendState } from '@remit/contract'
import { fromMicroUsd, isUsd, toMicroUsd } from '@remit/contract/values'
import { actorOf } from '@remit/core/caller'
import type { EntryDraft } from '@remit/core/ledger/lanes'

/** A compiled limit; caps are micro-USD. */
export interface Limit {
  readonly agentId: string
  readonly dailyMicro: number | null
  readonly monthlyMicro: number | null
  readonly onMissingAmount: 'zero' | 'deny'
  readonly holdTtlSeconds: number | null
}

/** A cap in micro-USD; null for none. */
export const microOf = (usd: number | null): number | null =>
  usd === null ? null : toMicroUsd(usd)

/** Spent and held amounts in each window, micro-USD. The held amount grows while a batch is decided. */
export interface SpendUsage {
  readonly day: { spent: number; held: number }
  readonly month: { spent: number; held: number }
}

export type SpendVerdict =
  | { readonly denied: null; readonly spend: SpendState }
  | {
      readonly denied: Reason
      readonly message: string
      readonly spend?: SpendState
      readonly limitUsd?: number
    }

/**
 * Returns whether a limit allows an amount: `spent + held + amount > cap` denies; without an amount
 * `spent + held >= cap` denies; a cap of 0 denies everything. Unknown usage (null) denies.
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
  const micro = amount === 'missing' ? null : amount.micro
  if (passesCap(limit.dailyMicro, usage.day, micro))
    return exceeded('spend_limit_daily', 'daily', limit.dailyMicro, spend)
  if (passesCap(limit.monthlyMicro, usage.month, micro))
    return exceeded('spend_limit_monthly', 'monthly', limit.monthlyMicro, spend)
  return { denied: null, spend }
}

function passesCap(
  cap: number | null,
  { spent, held }: SpendUsage['day'],
  micro: number | null,
): boolean {
  if (cap === null) return false
  if (cap === 0) return true
  return micro === null ? spent + held >= cap : spent + held + micro > cap
}

const exceeded = (
  denied: Reason,
  name: string,
  cap: number | null,
  spend: SpendState,
): SpendVerdict => ({
  denied,
  message: `The ${name} limit of ${fromMicroUsd(cap ?? 0)} USD would be exceeded.`,
  spend,
  limitUsd: fromMicroUsd(cap ?? 0),
})

function describe(limit: Limit, amount: Amount, usage: SpendUsage, windows: Windows): SpendState {
  const window = (cap: number | null, { spent, held }: SpendUsage['day'], resets_at: string) =>
    cap === null
      ? null
      : {
          limit_usd: fromMicroUsd(cap),
          spent_usd: fromMicroUsd(spent + held),
          remaining_usd: fromMicroUsd(Math.max(0, cap - spent - held)),
          resets_at,
        }
  return {
    amount_usd: typeof amount === 'object' ? fromMicroUsd(amount.micro) : null,
    daily: window(limit.dailyMicro, usage.day, windows.dayResets),
    monthly: window(limit.monthlyMicro, usage.month, windows.monthResets),
  }
}

/** The requested amount: micro-USD, none, or invalid. */
export type Amount = { readonly micro: number } | 'missing' | 'invalid'

/**
 * Reads `context.amount_usd`, else `context.amount`; a `context.currency` must be USD. Two
 * different amounts are invalid: the tool could spend the other one.
 */
export function amountOf(context: Readonly<Record<string, unknown>> | undefined): Amount {
  if (context === undefined) return 'missing'
  const amount = own(context, 'amount')
  const value = own(context, 'amount_usd') ?? amount
  if (value === undefined || value === null) return 'missing'
  const currency = own(context, 'currency') ?? 'USD'
  if (currency !== 'USD' || (amount ?? value) !== value) return 'invalid'
  if (typeof value !== 'number' || !isUsd(value)) return 'invalid'
  return { micro: toMicroUsd(value) }
}

const own = (record: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined

/** The UTC day and month of a time, and their ends. */
export interface Windows {
  /** `2026-11-20`. */
  readonly day: string
  /** `2026-11`. */
  readonly month: string
  readonly dayFrom: string
  readonly dayResets: string
  readonly monthFrom: string
  readonly monthResets: string
}

/** Windows of `nowMs`, milliseconds since the epoch. Times are RFC 3339. */
export function windowsAt(nowMs: number): Windows {
  const now = new Date(nowMs)
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const at = (y: number, m: number, d: number) => new Date(Date.UTC(y, m, d)).toISOString()
  const iso = now.toISOString()
  return {
    day: iso.slice(0, 10),
    month: iso.slice(0, 7),
    dayFrom: at(year, month, day),
    dayResets: at(year, month, day + 1),
    monthFrom: at(year, month, 1),
    monthResets: at(year, month + 1, 1),
  }
}

/** The month of a day id. */
export const monthOf = (day: string): string => day.slice(0, 7)

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
  { agentId, dailyMicro, monthlyMicro }: Caps,
  windows: Pick<Windows, 'day' | 'month'>,
  before: CountedSpend,
  after: CountedSpend,
): EntryDraft<'spend.threshold'>[] {
  const entries: EntryDraft<'spend.threshold'>[] = []
  for (const name of ['day', 'month'] as const) {
    const cap = name === 'day' ? dailyMicro : monthlyMicro
    if (cap === null) continue
    for (const { percent, times, over } of THRESHOLDS) {
      if (before[name] * over >= cap * times || cap * times > after[name] * over) continue
      entries.push({
        kind: 'spend.threshold',
        actor: actorOf(null),
        agent_id: agentId,
        data: {
          agent_id: agentId,
          window: windows[name],
          threshold_percent: percent,
          limit_usd: fromMicroUsd(cap),
          spent_usd: fromMicroUsd(after[name]),
        },
      })
    }
  }
  return entries
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
  const entries: EntryDraft<'spend.threshold'>[] = []
  for (const [agentId, micro] of added) {
    const caps = limits.get(agentId)
    const known = usage.get(agentId)
    if (!caps || !known) continue
    const after = {
      day: known.day.spent + known.day.held,
      month: known.month.spent + known.month.held,
    }
    const before = { day: after.day - micro, month: after.month - micro }
    entries.push(...thresholdEntries(caps, windows, before, after))
  }
  return entries
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
