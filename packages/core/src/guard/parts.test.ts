import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '@remit/testing/pure'
import { partsOf } from './scored-parts.ts'

const words = fc
  .array(fc.constantFrom('word', 'a', '😀', 'Grüße', '\n', '. ', ' ', 'x'.repeat(700)), {
    maxLength: 400,
  })
  .map((all) => all.join(''))

describe('the parts of a text', () => {
  it('leave nothing out, follow each other and have at most 3,000 units', () => {
    fc.assert(
      fc.property(words, (text) => {
        const parts = partsOf(text)

        expect(parts.map(({ start, end }) => text.slice(start, end)).join('')).toBe(text)
        expect(parts.every(({ start, end }) => end - start <= 3_000)).toBe(true)
        expect(parts.every(({ start }) => !isLowSurrogate(text.charCodeAt(start)))).toBe(true)
      }),
      { numRuns: runs(300) },
    )
  })

  it('end with a line where there is one, then with a sentence, then with a word', () => {
    for (const separator of ['\n', '. ', ' ']) {
      const text = `${'x'.repeat(120)}${separator}`.repeat(60)

      for (const { end } of partsOf(text)) expect(text.slice(0, end).endsWith(separator)).toBe(true)
    }
    expect(partsOf(`${'One. '.repeat(400)}\n${'Two. '.repeat(400)}`)[0]?.end).toBe(2_001)
  })

  it('are one for a text of a page, however short', () => {
    expect(partsOf('')).toEqual([{ start: 0, end: 0 }])
    expect(partsOf('a '.repeat(1_500))).toEqual([{ start: 0, end: 3_000 }])
  })
})

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000
