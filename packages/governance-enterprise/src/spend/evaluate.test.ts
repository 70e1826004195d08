import { readFileSync } from 'node:fs'
import { toMicroUsd } from '@remit/contract/values'
import { describe, expect, it } from 'vitest'
import { amountOf, evaluateSpend, windowsAt } from './evaluate.ts'
import type { Limit, SpendUsage } from './evaluate.ts'

interface Row {
  readonly name: string
  readonly limit: {
    readonly daily_usd?: number
    readonly monthly_usd?: number
    readonly on_missing_amount?: 'zero' | 'deny'
  }
  /** USD; null where it cannot be read. */
  readonly spent: {
    readonly day?: number
    readonly dayHeld?: number
    readonly month?: number
    readonly monthHeld?: number
  } | null
  readonly context: Record<string, unknown> | null
  readonly decision: string
}

const rows = JSON.parse(readFileSync(new URL('decisions.json', import.meta.url), 'utf8')) as Row[]
const windows = windowsAt(Date.parse('2026-11-20T08:00:00.000Z'))

const limitOf = ({ limit }: Row): Limit => ({
  agentId: 'payer',
  dailyMicro: limit.daily_usd === undefined ? null : toMicroUsd(limit.daily_usd),
  monthlyMicro: limit.monthly_usd === undefined ? null : toMicroUsd(limit.monthly_usd),
  onMissingAmount: limit.on_missing_amount ?? 'zero',
  holdTtlSeconds: null,
})

const usageOf = ({ spent }: Row): SpendUsage | null =>
  spent && {
    day: { spent: toMicroUsd(spent.day ?? 0), held: toMicroUsd(spent.dayHeld ?? 0) },
    month: { spent: toMicroUsd(spent.month ?? 0), held: toMicroUsd(spent.monthHeld ?? 0) },
  }

const evaluate = (row: Row) =>
  evaluateSpend(limitOf(row), amountOf(row.context ?? undefined), usageOf(row), windows)

describe('evaluateSpend', () => {
  it.each(rows)('$name: $decision', (row) => {
    expect(evaluate(row).denied ?? 'allow').toBe(row.decision)
  })

  it('contains the usage, and the exceeded cap', () => {
    const verdict = evaluateSpend(
      {
        agentId: 'payer',
        dailyMicro: 5_000_000,
        monthlyMicro: 20_000_000,
        onMissingAmount: 'zero',
        holdTtlSeconds: null,
      },
      { micro: 2_000_000 },
      { day: { spent: 1_500_000, held: 2_000_000 }, month: { spent: 21_000_000, held: 2_000_000 } },
      windows,
    )

    expect(verdict).toEqual({
      denied: 'spend_limit_daily',
      message: 'The daily limit of 5 USD would be exceeded.',
      limitUsd: 5,
      spend: {
        amount_usd: 2,
        daily: {
          limit_usd: 5,
          spent_usd: 3.5,
          remaining_usd: 1.5,
          resets_at: '2026-11-21T00:00:00.000Z',
        },
        monthly: {
          limit_usd: 20,
          spent_usd: 23,
          remaining_usd: 0,
          resets_at: '2026-12-01T00:00:00.000Z',
        },
      },
    })
  })
})
