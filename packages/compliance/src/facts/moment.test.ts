import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MomentReader } from './moment.ts'

it('reads times as entries have them, in whatever order', () => {
  const time = fc.integer({ min: 0, max: Date.parse('2999-12-31T23:59:59.999Z') })
  fc.assert(
    fc.property(fc.array(time), (times) => {
      const reader = new MomentReader()
      for (const one of [...times, ...times])
        expect(reader.read(new Date(one).toISOString())).toBe(one)
    }),
  )
})

it.each([
  '',
  '2026-01-01',
  '2026-01-01T00:00:00Z',
  '2026-01-01T00:00:00.000z',
  '2026-01-01T00:00:00.0000',
  '2026-01-01 00:00:00.000Z',
  '2026-13-01T00:00:00.000Z',
  '2026-01-01T2x:00:00.000Z',
  '2026-01-01T24:00:00.000Z',
  '          T00:00:00.000Z',
])('is no time: %j', (text) => {
  const reader = new MomentReader()
  expect(reader.read(text)).toBeNaN()
  expect(reader.read('2026-01-01T00:00:00.001Z')).toBe(Date.UTC(2026, 0, 1, 0, 0, 0, 1))
  expect(reader.read(text)).toBeNaN()
})
