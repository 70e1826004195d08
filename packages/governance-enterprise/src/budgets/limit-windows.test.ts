import { describe, expect, it } from 'vitest'
import { windowsAt } from './limits.ts'

const at = (time: string) => windowsAt(Date.parse(time))

describe('windowsAt', () => {
  it('is the UTC hour, day and month, which begin and end with the same instant', () => {
    expect(at('2026-11-30T23:59:59.999Z')).toMatchObject({
      hour: {
        id: '2026-11-30T23',
        from: Date.parse('2026-11-30T23:00:00.000Z'),
        resetsAt: '2026-12-01T00:00:00.000Z',
      },
      day: {
        id: '2026-11-30',
        from: Date.parse('2026-11-30T00:00:00.000Z'),
        resetsAt: '2026-12-01T00:00:00.000Z',
      },
      month: {
        id: '2026-11',
        from: Date.parse('2026-11-01T00:00:00.000Z'),
        resetsAt: '2026-12-01T00:00:00.000Z',
      },
    })
    expect(at('2026-12-01T00:00:00.000Z')).toMatchObject({
      day: { id: '2026-12-01' },
      month: { id: '2026-12' },
    })
  })

  it.each([
    ['2026-12-31T12:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['2028-02-28T12:00:00.000Z', '2028-02-29T00:00:00.000Z'],
    ['2027-02-28T12:00:00.000Z', '2027-03-01T00:00:00.000Z'],
    ['2026-03-29T00:30:00.000Z', '2026-03-30T00:00:00.000Z'],
  ])('the day of %s ends at %s, whatever the calendar does', (time, resets) => {
    expect(at(time).day.resetsAt).toBe(resets)
  })
})
