import { isoTime } from '@remit/core/base'
import type { Failure } from '@remit/core/base'
import { describe, expect, test } from 'vitest'
import { periodOf } from './read-ledger.ts'

const NOW = Date.parse('2026-04-02T08:30:00.000Z')
const asked = (from?: string, to?: string) => {
  const period = periodOf({ from, to }, NOW)
  return [isoTime(period.from), isoTime(period.to)]
}

describe('the period of a report', () => {
  test.each([
    [undefined, undefined, '2026-01-02T00:00:00.000Z', '2026-04-02T00:00:00.000Z'],
    ['2026-01-01', '2026-03-31', '2026-01-01T00:00:00.000Z', '2026-04-01T00:00:00.000Z'],
    ['2026-03-31', '2026-03-31', '2026-03-31T00:00:00.000Z', '2026-04-01T00:00:00.000Z'],
    [undefined, '2026-03-31', '2026-01-01T00:00:00.000Z', '2026-04-01T00:00:00.000Z'],
    ['2026-04-01', undefined, '2026-04-01T00:00:00.000Z', '2026-04-02T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29', '2024-02-29T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
    [
      '2026-01-01T00:00:00+05:30',
      '2026-04-02T10:30:00+02:00',
      '2025-12-31T18:30:00.000Z',
      '2026-04-02T08:30:00.000Z',
    ],
  ])('from %s to %s is [%s, %s)', (from, to, begins, ends) => {
    expect(asked(from, to)).toEqual([begins, ends])
  })

  test.each([
    ['2026-04-02T08:00:00Z', '2026-04-02T08:00:00Z', 'from'],
    ['2026-04-02T08:00:00Z', undefined, 'from'],
    ['2026-03-01', '2026-02-28', 'from'],
    [undefined, '2026-04-02', 'to'],
    [undefined, '2026-04-02T08:30:00.001Z', 'to'],
    [undefined, '9999-12-31', 'to'],
    ['0000-01-01', undefined, 'from'],
    ['1970-01-01T00:00:00+00:01', undefined, 'from'],
  ])('from %s to %s is refused', (from, to, path) => {
    let refusal: unknown
    try {
      asked(from, to)
    } catch (error) {
      refusal = error
    }
    expect((refusal as Failure).extras.errors?.[0]?.path).toBe(path)
  })
})
