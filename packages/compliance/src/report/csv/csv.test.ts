import { cpuMsOf } from '@remit/testing/pure'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formulasIn, FORMULAS, parseCsv } from '../../../test/support/csv.ts'
import { cellText, csvText, withoutFormulas } from '@remit/contract/fit'

const readBack = (text: string): string => parseCsv(`${cellText(text)}\r\n`)[0]?.[0] ?? ''

describe('a cell', () => {
  test.each(FORMULAS)('is never a formula: %j', (text) => {
    expect(formulasIn(readBack(text))).toEqual([])
    expect(readBack(text)).toBe(withoutFormulas(text))
  })

  test('of those there are more than forty-two, and as they are they would be formulas', () => {
    expect(FORMULAS.length).toBeGreaterThan(42)
    const tame = FORMULAS.filter((text) => formulasIn(text).length === 0)
    // Only a reader without quotes would run these, or they are no formulas.
    expect(tame).toEqual(['\t', '\n', `harmless;'"=1`, '","=1","', '\uD800=1', "'=1"])
  })

  test.each([
    ['=1', "'=1"],
    [' =1', "' =1"],
    ['\t=1', "'\t'=1"],
    ['\n', "'\n"],
    ['|x', "'|x"],
    ['a;=1', "a;'=1"],
    ['a; "+1', `a; "'+1`],
    ['a\r\n-1', "a\r\n'-1"],
    ['a;%1', 'a;%1'],
    ['a\u0000b', 'a\uFFFDb'],
    ['\u0000=1', "'\uFFFD=1"],
    ['half \uD83D', 'half \uFFFD'],
    ['＝1', "'＝1"],
    ['a-b=c+d@e|f%g', 'a-b=c+d@e|f%g'],
    ['müßig, "so"', 'müßig, "so"'],
    ['a\tb\r\nc', 'a\tb\r\nc'],
    ['', ''],
  ])('%j is written %j', (text, written) => {
    expect(withoutFormulas(text)).toBe(written)
  })

  test('that we computed stands bare, and is never changed', () => {
    expect([-5, 0, 12_345, true, false, null].map(cellText)).toEqual([
      '-5',
      '0',
      '12345',
      'true',
      'false',
      '',
    ])
  })

  test('is found out in no text at all', () => {
    const parts = fc.constantFrom(
      ...'=+-@|%;\t\r\n"\', aＺ＝\u200B\u00A0\u0000\uFEFF\uFFFD\uD800'.split(''),
    )
    const texts = fc.oneof(
      fc.array(parts).map((chosen) => chosen.join('')),
      fc.string(),
    )
    fc.assert(
      fc.property(texts, (text) => {
        expect(formulasIn(readBack(text))).toEqual([])
        expect(readBack(text)).toBe(withoutFormulas(text))
      }),
    )
  })

  test('takes time in proportion to its length', async () => {
    const long = `${'\t \r\n;"'.repeat(200_000)}=1`

    expect(await cpuMsOf(() => withoutFormulas(long))).toBeLessThan(2_000)
  })
})

describe('a table', () => {
  test('is rectangular, with CRLF after every line and no mark before', () => {
    const text = csvText({
      columns: ['a', 'b'],
      rows: [
        ['x,"y"\r\n', 1],
        [null, false],
      ],
    })

    expect(text).toBe('"a","b"\r\n"x,""y""\r\n",1\r\n,false\r\n')
    expect(parseCsv(text)).toEqual([
      ['a', 'b'],
      ['x,"y"\r\n', '1'],
      ['', 'false'],
    ])
  })
})
