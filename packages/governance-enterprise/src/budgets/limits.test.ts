import { readFileSync } from 'node:fs'
import { byWindow, toMicroUsd } from '@remit/contract/values'
import { describe, expect, it } from 'vitest'
import { amountOf } from '../base/seen-context.ts'
import { evaluateSpend, windowsAt } from './limits.ts'
import type { Limit, SpendUsage } from './limits.ts'

interface Row {
  readonly name: string
  readonly limit: {
    readonly hourly_usd?: number
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
  caps: byWindow('name', ({ cap }) => {
    const usd = limit[cap]
    return usd === undefined ? null : toMicroUsd(usd)
  }),
  onMissingAmount: limit.on_missing_amount ?? 'zero',
  holdTtlSeconds: null,
})

const counted = (used: number, held: number) => ({ used, held, before: used + held })
const usageOf = ({ spent }: Row): SpendUsage | null =>
  spent && {
    of: (_, window) =>
      window === windows.day.id
        ? counted(toMicroUsd(spent.day ?? 0), toMicroUsd(spent.dayHeld ?? 0))
        : counted(toMicroUsd(spent.month ?? 0), toMicroUsd(spent.monthHeld ?? 0)),
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
        caps: { hour: null, day: 5_000_000, month: 20_000_000 },
        onMissingAmount: 'zero',
        holdTtlSeconds: null,
      },
      { micro: 2_000_000 },
      { of: (_, id) => counted(id === windows.day.id ? 1_500_000 : 21_000_000, 2_000_000) },
      windows,
    )

    expect(verdict).toEqual({
      denied: 'spend_limit_daily',
      message: 'The daily limit of 5 USD would be exceeded.',
      limitUsd: 5,
      // The month has room last.
      retryAt: Date.parse('2026-12-01T00:00:00.000Z'),
      spend: {
        amount_usd: 2,
        hourly: null,
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
