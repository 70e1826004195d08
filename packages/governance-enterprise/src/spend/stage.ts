import { isoTime } from '@remit/core/base'
import { writeRows } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Ask, Pass, Stage, StageVerdict } from '@remit/core/decision'
import type { SpendLimitInput, SpendState } from '@remit/contract'
import { fromMicroUsd, toMicroUsd } from '@remit/contract/values'
import { seenContext } from '../base/seen-context.ts'
import type { SpendHoldRow, SpendLimitRow } from '../tables/schema.ts'
import { amountOf, evaluateSpend, microOf, thresholdsOfHolds, windowsAt } from './evaluate.ts'
import type { Amount, Limit, SpendUsage, Windows } from './evaluate.ts'
import { listLimits } from './limits-store.ts'
import type { MeasureSpend, MeasuredSpend } from './measure.ts'
import {
  agentsWithEndingHolds,
  findOverdueHolds,
  holdRows,
  readTotals,
  totalRows,
} from './totals-store.ts'
import type { Movement } from './totals-store.ts'

interface Snapshot {
  readonly limits: ReadonlyMap<string, Limit>
  /** Agents with expiring holds. */
  readonly ending: ReadonlySet<string>
}

interface State {
  readonly limits: ReadonlyMap<string, Limit>
  readonly windows: Windows
  /** By limited agent of the batch; null if spend cannot be read. */
  readonly usage: ReadonlyMap<string, SpendUsage | null>
  /** Spend comes from the ledger, not from another source. */
  readonly fromLedger: boolean
}

/** The hold of an allow. */
interface Hold {
  readonly micro: number
  readonly expiresAt: string | null
}

/**
 * The slot `spend_limit`. An allow holds its amount in the transaction that records it. `measure`
 * queries an external source; without it, the ledger's totals count.
 */
export function spendStage(measure: MeasureSpend | null): Stage<Snapshot, MeasuredSpend, State> {
  return {
    unavailable: {
      reason: 'spend_unavailable',
      message: 'The spend data of the agent cannot be read.',
    },

    reads: ['spend_limits'],

    async load({ orgId, tx }) {
      const rows = await listLimits(tx, orgId)
      const ending = await agentsWithEndingHolds(tx, orgId)
      return {
        limits: new Map(rows.map((row) => [row.agent_id, toLimit(row)])),
        ending: new Set(ending),
      }
    },

    overlay(snapshot, { spend_limits: change }) {
      if (!change) return snapshot
      const limits = new Map(snapshot.limits)
      for (const id of change.remove) limits.delete(id)
      for (const limit of change.set) limits.set(limit.agent_id, limitOf(limit))
      return { ...snapshot, limits }
    },

    ...(measure && {
      gather: (asks, { limits }) => measure(asks.filter((ask) => limits.has(ask.request.agent_id))),
    }),

    async prepare(asks, { limits, ending }, { orgId, tx, now }, measured) {
      const windows = windowsAt(now)
      const usage = new Map<string, SpendUsage | null>()
      const releasing: string[] = []
      for (const { request } of asks) {
        const limit = limits.get(request.agent_id)
        if (!limit || usage.has(limit.agentId)) continue
        usage.set(limit.agentId, { day: { spent: 0, held: 0 }, month: { spent: 0, held: 0 } })
        if (limit.holdTtlSeconds !== null || ending.has(limit.agentId))
          releasing.push(limit.agentId)
      }
      const fromLedger = measured === undefined
      if (usage.size === 0) return { limits, windows, usage, fromLedger }
      if (releasing.length > 0) await releaseOverdue(tx, orgId, releasing, now)
      const totals = await readTotals(tx, orgId, [...usage.keys()], [windows.day, windows.month])
      for (const { agent_id, window_id, spent_micro, held_micro } of totals) {
        const used = usage.get(agent_id)?.[window_id === windows.day ? 'day' : 'month']
        if (used) Object.assign(used, { spent: spent_micro, held: held_micro })
      }
      if (measured) replaceSpent(usage, measured)
      return { limits, windows, usage, fromLedger }
    },

    decide: decideSpend,

    apply({ ask, effect }, { usage }) {
      const known = usage.get(ask.request.agent_id)
      if (!known) return
      known.day.held += (effect as Hold).micro
      known.month.held += (effect as Hold).micro
    },

    async record(effects, { limits, usage, windows }, { orgId, writes }) {
      const holds: SpendHoldRow[] = []
      const movements: Movement[] = []
      const { day } = windows
      for (const { ask, effect } of effects) {
        const { micro, expiresAt } = effect as Hold
        const { agent_id } = ask.request
        holds.push({
          org_id: orgId,
          decision_id: ask.decisionId,
          agent_id,
          day,
          held_micro: micro,
          state: 'held',
          expires_at: expiresAt,
        })
        movements.push({ agentId: agent_id, day, spent: 0, held: micro })
      }
      writes.push(holdRows(holds), totalRows(orgId, movements))
      return usage.size > 0 ? thresholdsOfHolds(holds, limits, usage, windows) : []
    },
  }
}

function decideSpend(ask: Ask, { limits, usage, windows, fromLedger }: State): StageVerdict {
  const { agent_id } = ask.request
  const amount = amountOf(seenContext(ask.request))
  const limit = limits.get(agent_id)
  // Spend before a limit exists counts too, so amounts are held without one.
  if (!limit) return holding(amount, null, ask)
  const used = usage.get(agent_id) ?? null
  const verdict = evaluateSpend(limit, amount, used, windows)
  const matched = [{ kind: 'spend_limit', id: agent_id }]
  const { spend } = verdict
  if (verdict.denied === null) {
    const pass = holding(amount, limit, ask)
    const countsNothing = fromLedger && amount === 'missing' && isUnused(used)
    return {
      ...pass,
      notes: {
        matched,
        ...(countsNothing && { warnings: ['spend_limit_counts_nothing'] }),
        answer: { spend: verdict.spend },
        data: { ...pass.notes?.data, spend: recorded(verdict.spend) },
      },
    }
  }
  return {
    verdict: 'deny',
    reason: verdict.denied,
    message: verdict.message,
    notes: {
      matched,
      answer: {
        ...(spend && { spend }),
        ...(verdict.limitUsd !== undefined && { limit_usd: verdict.limitUsd }),
      },
      data: spend ? { spend: recorded(spend) } : {},
    },
  }
}

/** Nothing of this month was spent or is held: neither requests nor entries may name amounts. */
const isUnused = (usage: SpendUsage | null): boolean =>
  usage !== null && usage.month.spent + usage.month.held === 0

/** The spend in an entry: the caps and the usage; the rest can be derived. */
function recorded({ amount_usd, daily, monthly }: SpendState) {
  return {
    amount_usd,
    daily: daily && { limit_usd: daily.limit_usd, spent_usd: daily.spent_usd },
    monthly: monthly && { limit_usd: monthly.limit_usd, spent_usd: monthly.spent_usd },
  }
}

function holding(amount: Amount, limit: Limit | null, ask: Ask): Pass {
  const micro = typeof amount === 'object' ? amount.micro : 0
  // An allow without an amount also has a hold, of zero: it can be settled once.
  if (micro === 0) {
    const nothing: Pass = { verdict: 'pass', effect: { micro, expiresAt: null } satisfies Hold }
    // Without a limit nothing is refused, but the request may have spent something.
    return amount === 'invalid'
      ? { ...nothing, notes: { data: { amount_invalid: true } } }
      : nothing
  }
  const ttl = limit?.holdTtlSeconds ?? null
  const hold: Hold = { micro, expiresAt: ttl === null ? null : isoTime(ask.now + ttl * 1000) }
  return {
    verdict: 'pass',
    effect: hold,
    notes: { data: { hold: { usd: fromMicroUsd(hold.micro), expires_at: hold.expiresAt } } },
  }
}

async function releaseOverdue(
  tx: AnyDatabase,
  orgId: string,
  agentIds: readonly string[],
  now: number,
): Promise<void> {
  const overdue = await findOverdueHolds(tx, orgId, agentIds, isoTime(now))
  if (overdue.length === 0) return
  const movements = overdue.map((hold) => ({
    agentId: hold.agent_id,
    day: hold.day,
    spent: 0,
    held: -hold.held_micro,
  }))
  const expired = overdue.map((hold) => ({ ...hold, state: 'expired' as const }))
  // Immediately: the totals are read next.
  await writeRows(tx, [holdRows(expired), totalRows(orgId, movements)])
}

/** Replaces the spend of the ledger by that of an external source; null where that could not be read. */
function replaceSpent(usage: Map<string, SpendUsage | null>, measured: MeasuredSpend): void {
  for (const [agentId, used] of usage) {
    const outside = measured.get(agentId)
    if (outside === null) usage.set(agentId, null)
    if (!used || !outside) continue
    used.day.spent = toMicroUsd(outside.dayUsd)
    used.month.spent = toMicroUsd(outside.monthUsd)
  }
}

const limitOf = (input: SpendLimitInput & { readonly agent_id: string }): Limit => ({
  agentId: input.agent_id,
  dailyMicro: microOf(input.daily_usd),
  monthlyMicro: microOf(input.monthly_usd),
  onMissingAmount: input.on_missing_amount,
  holdTtlSeconds: input.hold_ttl_seconds,
})

const toLimit = (row: SpendLimitRow): Limit => ({
  agentId: row.agent_id,
  dailyMicro: row.daily_micro,
  monthlyMicro: row.monthly_micro,
  onMissingAmount: row.on_missing_amount === 'deny' ? 'deny' : 'zero',
  holdTtlSeconds: row.hold_ttl_seconds,
})
