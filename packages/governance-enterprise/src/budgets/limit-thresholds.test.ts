import { toMicroUsd } from '@remit/contract/values'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { thresholdEntries, windowsAt } from './limits.ts'

const windows = windowsAt(Date.parse('2026-11-20T08:00:00.000Z'))

const counter = (beforeUsd: number, afterUsd: number) => ({
  before: toMicroUsd(beforeUsd),
  used: toMicroUsd(afterUsd),
  held: 0,
})

/** Percents that are told of when a daily cap's spend goes from one amount of USD to another. */
function told(capUsd: number, fromUsd: number, toUsd: number): unknown[] {
  const limit = { agentId: 'payer', caps: { hour: null, day: toMicroUsd(capUsd), month: null } }
  return thresholdEntries(limit, windows, { of: () => counter(fromUsd, toUsd) }).map(
    ({ data }) => data.threshold_percent,
  )
}

describe('thresholdEntries', () => {
  it.each([
    [100, 0, 49.999999, []],
    [100, 0, 50, [50]],
    [100, 49.999999, 50, [50]],
    [100, 50, 50, []],
    [100, 50, 79.999999, []],
    [100, 50, 80, [80]],
    [100, 80, 100, [100]],
    [100, 99.999999, 250, [100]],
    [100, 0, 100, [50, 80, 100]],
    [100, 100, 200, []],
    [100, 90, 40, []],
    [0.000001, 0, 0.000001, [50, 80, 100]],
    [0.000003, 0, 0.000001, []],
    [0.000003, 0.000001, 0.000002, [50]],
    [1e9, 799_999_999.999999, 800_000_000, [80]],
    [1e9, 799_999_999.999998, 799_999_999.999999, []],
    [0, 0, 5, []],
  ])('of a cap of %d USD, from %d to %d: %j', (cap, from, to, percents) => {
    expect(told(cap, from, to)).toEqual(percents)
  })

  it('contains the agent, the window and the usage', () => {
    const limit = { agentId: 'payer', caps: { hour: null, day: 10_000_000, month: 20_000_000 } }

    const entries = thresholdEntries(limit, windows, {
      of: (_, window) =>
        window === '2026-11' ? counter(9, 10.5) : { ...counter(4, 5), held: 500_000 },
    })

    expect(entries).toEqual(
      [
        ['2026-11-20', 10, 5.5],
        ['2026-11', 20, 10.5],
      ].map(([window, limit_usd, spent_usd]) => ({
        kind: 'spend.threshold',
        actor: { type: 'system', id: 'remit' },
        agent_id: 'payer',
        data: { agent_id: 'payer', window, threshold_percent: 50, limit_usd, spent_usd },
      })),
    )
  })

  it('records each share once on the way up, however it is divided', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(steps, (amounts) => {
        const all: unknown[] = []
        let spent = 0
        for (const amount of amounts) {
          all.push(...told(1000, spent, spent + amount))
          spent += amount
        }
        expect(all).toEqual([50, 80, 100].filter((percent) => spent >= percent * 10))
      }),
    )
  })
})
