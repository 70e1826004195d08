import { describe, expect, test } from 'vitest'
import type { Figure, ReportCheck, ReportSummary } from '../report-document.ts'
import {
  datedText,
  figureText,
  openText,
  periodText,
  populationText,
  resultText,
  supplyItems,
} from './index.ts'

describe('values as text', () => {
  test.each([
    [null, 'nothing to measure'],
    [0, '0'],
    ['12.500000', '12.5'],
    [true, 'yes'],
    [{ numerator: 1, denominator: 3, text: '0.3333' }, '33.3% (1 of 3)'],
    [{ count: 2, oldest_seq: null }, 'found: 2; oldest seq: none'],
    [{ share: { numerator: 0, denominator: 2, text: '0.0000' } }, 'share: 0% (0 of 2)'],
    [{ by_actor: { my_agent: 1, b: 2 }, allow: 3 }, 'by actor: [my_agent: 1; b: 2]; allow: 3'],
    [[1, 2], '1, 2'],
    [[], 'none'],
    [{}, 'none'],
    [{ difference: '0.1214' }, 'difference: 12.1 points'],
  ] satisfies [Figure, string][])('%j is: %s', (figure, text) => {
    expect(figureText(figure)).toBe(text)
  })

  test.each([
    ['2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z', '1 February 2026 to 28 February 2026'],
    ['2026-03-31T00:00:00.000Z', '2026-04-01T00:00:00.000Z', '31 March 2026'],
    [
      '2026-02-01T00:00:00.000Z',
      '2026-03-01T12:30:01.500Z',
      '1 February 2026, 00:00:00 UTC to before 1 March 2026, 12:30:01 UTC',
    ],
  ])('%s to %s is: %s', (from, to, text) => {
    expect(periodText({ from, to })).toBe(text)
  })
})

describe('the population of a check', () => {
  const least = { population: 30, of: 'decisions', days: 7, over: 'cases' } as const
  const check = { id: 'DEC-2', title: '', severity: 'medium', value: null, threshold: '' } as const
  const textOf = (given: Partial<ReportCheck>): string =>
    populationText({
      ...check,
      result: 'pass',
      relaxed: false,
      population: 40,
      basis: 40,
      days: 90,
      least,
      ...given,
    })

  test.each([
    [{}, 'decisions: 40 (minimum: 30); days with them: 90 (minimum: 7)'],
    [{ result: 'not_applicable', population: 0, basis: 0 }, 'no cases'],
    [{ carries: false }, 'decisions: 40'],
    [{ result: 'fail' }, 'decisions: 40'],
    [{ result: 'fail', basis: 0 }, 'examined: 40; decisions: 0'],
    [
      { result: 'too_small', basis: 3 },
      'decisions: 3 (minimum: 30); days with them: 90 (minimum: 7)',
    ],
    [
      { result: 'too_young', days: 1 },
      'decisions: 40 (minimum: 30); days with them: 1 (minimum: 7)',
    ],
    [
      { result: 'too_young', days: 15, least: { ...least, days: 183, over: 'record' } },
      'decisions: 40 (minimum: 30); days since the oldest kept decision: 15 (minimum: 183)',
    ],
    [
      { result: 'too_young', days: 0, least: { ...least, days: 91, over: 'organization' } },
      'decisions: 40 (minimum: 30); days since the organization was created: 0 (minimum: 91)',
    ],
    [{ least: undefined }, '40'],
  ] satisfies [Partial<ReportCheck>, string][])('%j is: %s', (given, text) => {
    expect(textOf(given)).toBe(text)
  })
})

test('a pass that supports no control is not shown as passed', () => {
  const check = {
    id: 'REP-1',
    title: '',
    severity: 'critical',
    value: null,
    threshold: '',
  } as const
  const textOf = (given: Partial<ReportCheck>) =>
    resultText({ ...check, result: 'pass', relaxed: false, population: 3, ...given })

  expect(textOf({})).toBe('passed')
  expect(textOf({ carries: true })).toBe('passed')
  expect(textOf({ carries: false })).toBe('no failure found')
  expect(textOf({ carries: false, result: 'fail' })).toBe('failed')
})

test('sequence numbers are followed by the days of their entries, with one day for several', () => {
  const at = (day: string) => `2026-01-${day}T08:00:00.000Z`

  expect(datedText([12, 13, 19, 20], [at('03'), at('03'), at('04'), null])).toBe(
    '12, 13 (2026-01-03); 19 (2026-01-04); 20 (no longer kept)',
  )
  expect(datedText([12, 13], undefined)).toBe('12, 13')
})

test.each([
  ['The risk register must be supplied.', 'The risk register.'],
  ['Data sets are outside this server; documentation must be supplied.', null],
  ['Volumes are a figure, but capacity planning must be supplied.', null],
  ['Minutes are not held here and must be supplied.', null],
  ['Supply the badge records.', null],
])(
  'an item to supply stays a sentence unless it is a phrase without its verb: %s',
  (text, item) => {
    expect(supplyItems(`A first one. ${text}`)).toEqual(['A first one.', item ?? text])
  },
)

test('open findings are counted by severity, and none is said so', () => {
  const summary = { total: 1, satisfied: 0, attention: 0, not_evidenced: 1, manual: 0 }
  const open = (given: Partial<ReportSummary>) => openText({ ...summary, ...given })

  expect(open({ open_critical: 0, open_high: 1, open_medium: 0, open_low: 2 })).toBe(
    '1 high, 2 low',
  )
  expect(open({ open_critical: 0, open_high: 0, open_medium: 0, open_low: 0 })).toBe('none')
  expect(open({})).toBeNull()
})
