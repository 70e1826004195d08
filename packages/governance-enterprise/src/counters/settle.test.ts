import { describe, expect, it } from 'vitest'
import { settleHold } from './settle.ts'

const hold = {
  agent_id: 'payer',
  day: '2026-11-20',
  hour: '2026-11-20T08',
  held_micro: 10_000_000,
  state: 'held' as const,
  expires_at: null,
}
const NOW = '2026-11-21T08:00:00.000Z'
/** An amount at eight counts in the hour, in its day and in its month. */
const counted = (day: string, used: number, held: number) =>
  [`${day}T08`, day, day.slice(0, 7)].map((window) => ({ subject: 'payer', window, used, held }))
const released = (used: number) => counted('2026-11-20', used, -10_000_000)

describe('settleHold', () => {
  it('converts the held amount to spend of the day of the hold', () => {
    expect(settleHold(hold, 10, NOW)).toEqual(released(10_000_000))
  })

  it('gives back what was not spent', () => {
    expect(settleHold(hold, 4, NOW)).toEqual(released(4_000_000))
  })

  it('counts the excess on the day of the report', () => {
    expect(settleHold(hold, 12.5, NOW)).toEqual([
      ...released(10_000_000),
      ...counted('2026-11-21', 2_500_000, 0),
    ])
  })

  it('releases everything with 0', () => {
    expect(settleHold(hold, 0, NOW)).toEqual(released(0))
  })

  it('counts all of it today once the hold was released, because it was not kept free', () => {
    const expired = { ...hold, state: 'expired' as const, expires_at: '2026-11-20T09:00:00.000Z' }

    expect(settleHold(expired, 4, NOW)).toEqual([...counted('2026-11-21', 4_000_000, 0)])
    expect(settleHold(expired, 0, NOW)).toEqual([])
  })

  it('does the same after its end, before the end is recorded', () => {
    const overdue = { ...hold, expires_at: NOW }

    expect(settleHold(overdue, 4, NOW)).toEqual([
      ...released(0),
      ...counted('2026-11-21', 4_000_000, 0),
    ])
  })

  it('settles in time until its last millisecond', () => {
    expect(settleHold({ ...hold, expires_at: '2026-11-21T08:00:00.001Z' }, 4, NOW)).toEqual([
      ...released(4_000_000),
    ])
  })

  it('releases no hour for a hold of the release before, which counted none', () => {
    const [, day, month] = released(4_000_000)
    expect(settleHold({ ...hold, hour: null }, 4, NOW)).toEqual([day, month])
  })

  it('changes nothing for a hold of zero', () => {
    expect(settleHold({ ...hold, held_micro: 0 }, 0, NOW)).toEqual([])
  })
})
