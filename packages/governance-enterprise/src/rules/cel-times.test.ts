import fc from 'fast-check'
import { runs } from '@remit/testing/pure'
import { afterEach, describe, expect, it } from 'vitest'
import { compileCondition } from './condition.ts'
import { makeFacts } from './facts.ts'

const evaluate = (text: string, context: object = {}) =>
  compileCondition(text).evaluate(makeFacts({ context }))
/** The integer of an expression over `context.t`. */
const valueOf = (expression: string, t: string, value: number) =>
  evaluate(`${expression} == ${value}`, { t })

const PARTS = {
  getFullYear: 'getUTCFullYear',
  getMonth: 'getUTCMonth',
  getDate: 'getUTCDate',
  getDayOfWeek: 'getUTCDay',
  getHours: 'getUTCHours',
  getMinutes: 'getUTCMinutes',
  getSeconds: 'getUTCSeconds',
  getMilliseconds: 'getUTCMilliseconds',
} as const

describe('timestamp()', () => {
  it.each([
    '2023-02-29T00:00:00Z',
    '2023-02-30T00:00:00Z',
    '2024-02-30T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-04-31T00:00:00+02:00',
    '2026-06-31T23:59:59.999999999Z',
    '2026-01-32T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T24:00:00.000Z',
    '2026-01-01T25:00:00Z',
    '2026-01-01T00:60:00Z',
    '2016-12-31T23:59:60Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00-00:60',
    '2026-01-01T00:00:00',
    '2026-01-01',
    '2026-01-01T00:00Z',
    '-2026-01-01T00:00:00Z',
    '+002026-01-01T00:00:00Z',
    '2026-01-01T00:00:00.0000000001Z',
    '2026-1-1T00:00:00Z',
    ' 2026-01-01T00:00:00Z',
    '0000-12-31T23:59:59Z',
    '10000-01-01T00:00:00Z',
    'today',
    '',
  ])('refuses %j', (t) => {
    expect(evaluate('timestamp(context.t) > timestamp(0)', { t })).toBe('error')
    expect(evaluate('timestamp(context.t) <= timestamp(0)', { t })).toBe('error')
  })

  it('takes every second from year 1 to year 9999, in any zone', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -62_135_596_800 + 86_400, max: 253_402_300_799 - 86_400 }),
        fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 }),
        (seconds, minutes) => {
          const local = new Date((seconds + minutes * 60) * 1000).toISOString().slice(0, 19)
          const pad = (value: number) => String(value).padStart(2, '0')
          const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
          const t = `${local}${minutes < 0 ? '-' : '+'}${pad(hours)}:${pad(rest)}`
          expect([t, valueOf('int(timestamp(context.t))', t, seconds)]).toEqual([t, true])
        },
      ),
      { numRuns: runs(1_000) },
    )
  })

  it.each(['2024-02-29T00:00:00Z', '2000-02-29T23:59:59.5Z', '9999-12-31T23:59:59.999999999Z'])(
    'takes %s',
    (t) => {
      expect(evaluate('timestamp(context.t) > timestamp(0)', { t })).toBe(true)
    },
  )

  it('refuses seconds outside of the years 1 to 9999', () => {
    for (const seconds of [-62_135_596_801, 253_402_300_800, 2 ** 53])
      expect(evaluate(`timestamp(${seconds}) == timestamp(${seconds})`)).toBe('error')
    expect(valueOf('timestamp(253402300799).getFullYear()', '', 9999)).toBe(true)
    expect(valueOf('timestamp(-62135596800).getFullYear()', '', 1)).toBe(true)
  })
})

describe('the parts of a time', () => {
  afterEach(() => {
    delete process.env['TZ']
  })

  it('are cut, not rounded', () => {
    for (const [expression, t, value] of [
      ['timestamp(context.t).getMilliseconds()', '2026-01-01T00:00:00.9996Z', 999],
      ['timestamp(context.t).getMilliseconds()', '2026-01-01T00:00:00.000000001Z', 0],
      ['timestamp(context.t).getMilliseconds()', '1969-12-31T23:59:59.9999Z', 999],
      ['timestamp(context.t).getMilliseconds("Asia/Kolkata")', '1900-01-01T00:00:00.1239Z', 123],
      ['timestamp(context.t).getSeconds()', '2026-12-31T23:59:59.999999Z', 59],
      ['timestamp(context.t).getFullYear()', '2026-12-31T23:59:59.999999Z', 2026],
      ['timestamp(context.t).getFullYear("UTC")', '2026-12-31T23:59:59.999999999Z', 2026],
      ['timestamp(context.t).getFullYear("-01:00")', '2027-01-01T00:59:59.9999999Z', 2026],
      ['timestamp(context.t).getDate("Europe/Berlin")', '2026-12-31T22:59:59.9999999Z', 31],
      ['timestamp(context.t).getHours("America/New_York")', '1969-12-31T23:59:59.9999999Z', 18],
      ['duration("-1.9s").getSeconds()', '', -1],
      ['duration("1999ms").getMilliseconds()', '', 999],
    ] as const)
      expect([expression, t, valueOf(expression, t, value)]).toEqual([expression, t, true])
  })

  it('are those of UTC at every time, wherever the server is', () => {
    for (const zone of ['Europe/Berlin', 'America/St_Johns', 'Pacific/Kiritimati']) {
      process.env['TZ'] = zone
      fc.assert(
        fc.property(
          fc.date({
            min: new Date('0001-01-01T00:00:00Z'),
            max: new Date('9999-12-31T23:59:59.999Z'),
            noInvalidDate: true,
          }),
          (date) => {
            const t = date.toISOString()
            for (const [name, method] of Object.entries(PARTS))
              for (const zoned of ['', '"UTC"', '"+00:00"', '"Etc/UTC"'])
                expect([
                  t,
                  name,
                  valueOf(
                    `timestamp(context.t).${name}(${zoned})`,
                    t,
                    date[method as 'getUTCDate'](),
                  ),
                ]).toEqual([t, name, true])
          },
        ),
        { numRuns: runs(100) },
      )
      for (const t of ['2026-03-29T02:30:00Z', '2026-03-08T02:30:00Z', '2026-10-25T02:30:00Z'])
        expect(valueOf('timestamp(context.t).getHours()', t, 2)).toBe(true)
    }
  })

  it.each([
    ['2026-03-29T00:59:59Z', 'getHours("Europe/Berlin")', 1],
    ['2026-03-29T01:00:00Z', 'getHours("Europe/Berlin")', 3],
    ['2026-10-25T01:00:00Z', 'getHours("Europe/Berlin")', 2],
    ['2024-02-29T10:00:00Z', 'getMonth("Pacific/Kiritimati")', 2],
    ['2024-02-29T10:00:00Z', 'getDayOfYear("Pacific/Kiritimati")', 60],
    ['2024-12-31T23:59:59.999999999Z', 'getDayOfYear()', 365],
    ['2023-12-31T23:59:59Z', 'getDayOfYear()', 364],
    ['2023-01-01T00:00:00Z', 'getDayOfYear()', 0],
    ['0001-01-01T00:00:00Z', 'getFullYear()', 1],
    ['0099-06-01T00:00:00Z', 'getFullYear("Etc/UTC")', 99],
    ['0099-03-01T00:00:00Z', 'getDayOfYear()', 59],
    ['0001-01-01T00:00:00Z', 'getFullYear("-01:00")', 0],
    ['0001-01-01T00:00:00Z', 'getFullYear("America/New_York")', 0],
    ['0001-01-01T00:00:00Z', 'getDayOfWeek()', 1],
    ['2026-01-01T00:00:00Z', 'getHours("23:59")', 23],
  ])('%s %s: %i', (t, part, value) => {
    expect(valueOf(`timestamp(context.t).${part}`, t, value)).toBe(true)
  })

  it.each(['Mars/Olympus', '+24:00', '00:60', '', '+2:00'])(
    'of the zone %j are an error',
    (zone) => {
      expect(evaluate('timestamp(0).getHours(context.zone) >= 0', { zone })).toBe('error')
    },
  )
})
