import { toMicroUsd } from '@remit/contract/values'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { thresholdEntries, thresholdsOfHolds, windowsAt } from './evaluate.ts'

const windows = windowsAt(Date.parse('2026-11-20T08:00:00.000Z'))

/** Percents that are told of when a daily cap's spend goes from one amount of USD to another. */
function told(capUsd: number, fromUsd: number, toUsd: number): unknown[] {
  const caps = { agentId: 'payer', dailyMicro: toMicroUsd(capUsd), monthlyMicro: null }
  const counted = (usd: number) => ({ day: toMicroUsd(usd), month: 0 })
  return thresholdEntries(caps, windows, counted(fromUsd), counted(toUsd)).map(
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
    const caps = { agentId: 'payer', dailyMicro: 10_000_000, monthlyMicro: 20_000_000 }

    const entries = thresholdEntries(
      caps,
      windows,
      { day: 4_000_000, month: 9_000_000 },
      { day: 5_500_000, month: 10_500_000 },
    )

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

describe('thresholdsOfHolds', () => {
  const limits = new Map([['payer', { agentId: 'payer', dailyMicro: 100, monthlyMicro: null }]])
  const hold = (agent_id: string, held_micro: number) => ({ agent_id, held_micro })

  it('takes all holds of a batch together', () => {
    const usage = new Map([
      ['payer', { day: { spent: 30, held: 25 }, month: { spent: 30, held: 25 } }],
    ])
    const percents = (...holds: ReturnType<typeof hold>[]) =>
      thresholdsOfHolds(holds, limits, usage, windows).map(({ data }) => data.threshold_percent)

    expect(percents(hold('payer', 3), hold('other', 90), hold('payer', 3))).toEqual([50])
    expect(percents(hold('payer', 5))).toEqual([])
  })

  it('records nothing if spend cannot be read or is not limited', () => {
    expect(
      thresholdsOfHolds([hold('payer', 90)], limits, new Map([['payer', null]]), windows),
    ).toEqual([])
    expect(thresholdsOfHolds([hold('payer', 90)], limits, new Map(), windows)).toEqual([])
  })
})
