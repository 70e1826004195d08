import { runs } from '@remit/testing/pure'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { timeOf } from './windows.ts'

const HOUR = 3_600_000
const at = (window: Parameters<typeof timeOf>[0]['window'], time_zone: string, now: string) => {
  const { id, from, parts } = timeOf({ window, time_zone }, Date.parse(now))
  const leaves = parts[0]?.leaves ?? null
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
  return [id, iso(from), iso(leaves)]
}

describe('the window of a budget', () => {
  it.each([
    ['day', 'UTC', '2026-11-26T13:30:00Z', '2026-11-26', '2026-11-26T00:00', '2026-11-27T00:00'],
    // Clocks go back: a day of 25 hours; forward: one of 23.
    [
      'day',
      'Europe/Berlin',
      '2026-10-25T12:00:00Z',
      '2026-10-25',
      '2026-10-24T22:00',
      '2026-10-25T23:00',
    ],
    [
      'day',
      'Europe/Berlin',
      '2026-03-29T12:00:00Z',
      '2026-03-29',
      '2026-03-28T23:00',
      '2026-03-29T22:00',
    ],
    [
      'day',
      'Asia/Kolkata',
      '2026-11-26T18:29:59Z',
      '2026-11-26',
      '2026-11-25T18:30',
      '2026-11-26T18:30',
    ],
    [
      'day',
      'Asia/Kolkata',
      '2026-11-26T18:30:00Z',
      '2026-11-27',
      '2026-11-26T18:30',
      '2026-11-27T18:30',
    ],
    // The day begins at one o'clock.
    [
      'day',
      'Africa/Cairo',
      '2026-04-24T12:00:00Z',
      '2026-04-24',
      '2026-04-23T22:00',
      '2026-04-24T21:00',
    ],
    ['day', 'UTC', '2028-02-29T00:00:00Z', '2028-02-29', '2028-02-29T00:00', '2028-03-01T00:00'],
    ['week', 'UTC', '2027-01-03T23:59:59Z', '2026-W53', '2026-12-28T00:00', '2027-01-04T00:00'],
    ['week', 'UTC', '2025-12-29T00:00:00Z', '2026-W01', '2025-12-29T00:00', '2026-01-05T00:00'],
    [
      'month',
      'America/New_York',
      '2026-12-01T04:59:59Z',
      '2026-11',
      '2026-11-01T04:00',
      '2026-12-01T05:00',
    ],
    ['month', 'UTC', '2028-02-29T23:00:00Z', '2028-02', '2028-02-01T00:00', '2028-03-01T00:00'],
    // Hours are those of UTC, whatever the zone.
    [
      'hour',
      'Asia/Kolkata',
      '2026-11-26T18:40:00Z',
      '2026-11-26T18',
      '2026-11-26T18:00',
      '2026-11-26T19:00',
    ],
  ] as const)('%s in %s at %s is %s', (window, zone, now, id, from, to) => {
    expect(at(window, zone, now)).toEqual([id, `${from}:00.000Z`, `${to}:00.000Z`])
  })

  it('total never ends', () => {
    expect(at('total', 'UTC', '2026-11-26T13:30:00Z')).toEqual(['all', null, null])
  })

  it('rolling windows are hours and days of UTC, the oldest included', () => {
    const now = Date.parse('2026-11-26T13:30:00Z')
    const { parts } = timeOf({ window: 'rolling_24h', time_zone: 'Asia/Kolkata' }, now)

    expect(parts).toHaveLength(25)
    expect(parts.at(0)).toEqual({ id: '2026-11-25T13', leaves: Date.parse('2026-11-26T14:00:00Z') })
    expect(parts.at(-1)?.id).toBe('2026-11-26T13')
    expect(timeOf({ window: 'rolling_30d', time_zone: 'UTC' }, now).parts).toHaveLength(31)
  })

  it.each(['rolling_24h', 'rolling_30d'] as const)(
    'no interval exceeds the limit of %s',
    (window) => {
      const length = window === 'rolling_24h' ? 24 * HOUR : 30 * 24 * HOUR
      fc.assert(
        fc.property(
          fc.array(fc.integer({ min: 0, max: 4 * length }), { maxLength: 60 }),
          fc.integer({ min: 1, max: 5 }),
          (times, limit) => {
            const counters = new Map<string, number>()
            const allowed: number[] = []
            for (const now of times.toSorted((a, b) => a - b)) {
              const { parts, id } = timeOf({ window, time_zone: 'UTC' }, now)
              const used = parts.reduce((sum, part) => sum + (counters.get(part.id) ?? 0), 0)
              if (used + 1 > limit) continue
              counters.set(id, (counters.get(id) ?? 0) + 1)
              allowed.push(now)
            }
            for (const end of allowed)
              expect(
                allowed.filter((one) => one > end - length && one <= end).length,
              ).toBeLessThanOrEqual(limit)
          },
        ),
        { numRuns: runs(2_000) },
      )
    },
  )

  it('is the same from the cache as computed, in random order and around changes of clocks', () => {
    const zone = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC')
    const window = fc.constantFrom('day', 'week', 'month', 'hour')
    const time = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2028, 0) })
    fc.assert(
      fc.property(
        zone,
        window,
        fc.array(time, { minLength: 1, maxLength: 5 }),
        (time_zone, one, all) => {
          for (const now of all) {
            const { id, from, parts } = timeOf({ window: one, time_zone }, now)
            const to = parts[0]?.leaves ?? 0
            const idAt = (ms: number) => timeOf({ window: one, time_zone }, ms).id
            expect(from).toBeLessThanOrEqual(now)
            expect(to).toBeGreaterThan(now)
            expect([idAt(from ?? 0), idAt(to - 1)]).toEqual([id, id])
            expect(idAt((from ?? 0) - 1)).not.toBe(id)
            expect(idAt(to)).not.toBe(id)
          }
        },
      ),
      { numRuns: runs(500) },
    )
  })
})
