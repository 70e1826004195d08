import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fitsFreeForm,
  fromMicroUsd,
  hasVisibleCharacter,
  isLine,
  isName,
  isUsd,
  toMicroUsd,
} from './values.ts'

describe('isUsd', () => {
  it('takes every amount of whole micro-dollars up to a billion, and keeps it exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e15 }), (micro) => {
        const usd = Number(
          (BigInt(micro) / 1_000_000n).toString() +
            '.' +
            String(micro % 1_000_000).padStart(6, '0'),
        )
        return isUsd(usd) && toMicroUsd(usd) === micro && fromMicroUsd(micro) === usd
      }),
    )
  })

  it('refuses a seventh decimal wherever a number can show one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1e9 }),
        fc.integer({ min: 1, max: 9 }),
        (micro, seventh) => {
          const usd = Number(
            `${Math.floor(micro / 1e6)}.${String(micro % 1e6).padStart(6, '0')}${seventh}`,
          )
          return !isUsd(usd)
        },
      ),
    )
  })

  it.each([-1, -1e-9, 1e9 + 1e-6, 1e300, Infinity, Number.NaN, 5e-324])('refuses %d', (usd) => {
    expect(isUsd(usd)).toBe(false)
  })
})

describe('hasVisibleCharacter', () => {
  it.each([
    ' ',
    '\t\r\n',
    '\u00A0',
    '\u200B',
    '\u2003\u2060\uFEFF',
    '\u3164',
    '\u2800',
    '\ufffc',
    '\u{13441}',
    '\u{1d159}',
    '\u0301',
    '',
  ])('is false of %j, which shows nothing', (text) => {
    expect(hasVisibleCharacter(text)).toBe(false)
  })

  it.each(['a', ' .', '\u200B7', 'ÿ', '好', '👍', '€'])('is true of %j', (text) => {
    expect(hasVisibleCharacter(text)).toBe(true)
  })
})

describe('isName', () => {
  it('is the same for ASCII as the rule for all characters', () => {
    const ruled = (text: string) =>
      text.length >= 1 &&
      text.length <= 256 &&
      !/[\u0000-\u001f\u007f*]/.test(text) &&
      text.trim() === text

    fc.assert(
      fc.property(
        fc.string({ unit: 'binary-ascii', maxLength: 300 }),
        (text) => isName(text) === ruled(text),
      ),
    )
  })

  it('takes no text that Unicode normalization changes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
        (text) => !isName(text) || text.normalize('NFC') === text,
      ),
    )
  })

  it('counts characters, not their parts', () => {
    expect(isName('𝒳'.repeat(256))).toBe(true)
    expect(isName('𝒳'.repeat(257))).toBe(false)
    expect(isName('x'.repeat(256))).toBe(true)
    expect(isName('x'.repeat(257))).toBe(false)
  })

  it.each([
    ['U+FE0F', 'variation selector', '\ufe0f'],
    ['U+034F', 'combining grapheme joiner', '\u034f'],
    ['U+3164', 'Hangul filler', '\u3164'],
    ['U+115F', 'Hangul choseong filler', '\u115f'],
    ['U+FFA0', 'halfwidth Hangul filler', '\uffa0'],
    ['U+E0100', 'variation selector 17', '\u{e0100}'],
    ['U+2800', 'blank Braille pattern', '\u2800'],
    ['U+2028', 'line separator', '\u2028'],
    ['U+2029', 'paragraph separator', '\u2029'],
    ['U+00A0', 'no-break space', '\u00a0'],
    ['U+2003', 'em space', '\u2003'],
    ['U+3000', 'ideographic space', '\u3000'],
    ['U+200B', 'zero width space', '\u200b'],
    ['U+FFFE', 'noncharacter', '\ufffe'],
    ['U+FDD0', 'noncharacter in the Arabic block', '\ufdd0'],
    ['U+E000', 'private use', '\ue000'],
    ['U+FFFC', 'object replacement character', '\ufffc'],
    ['U+13441', 'full blank of Egyptian hieroglyphs', '\u{13441}'],
    ['U+13442', 'half blank of Egyptian hieroglyphs', '\u{13442}'],
    ['U+16FE4', 'Khitan small script filler', '\u{16fe4}'],
    ['U+1D159', 'musical symbol null notehead', '\u{1d159}'],
  ])('refuses %s, %s, wherever it is', (_, __, character) => {
    for (const name of [`pay${character}ments`, `${character}pay`, `pay${character}`, character])
      expect(isName(name)).toBe(false)
  })

  it.each(['pay ments', 'Zoë', '支付', '한국', 'प्रबंधक', 'é.è', '💸'])('takes %s', (name) => {
    expect(isName(name)).toBe(true)
  })

  it('refuses lone surrogates', () => {
    expect(isName('\ud800')).toBe(false)
    expect(isName('a\udfff')).toBe(false)
  })
})

describe('isLine', () => {
  it('takes text for people, with emoji and ideographic spaces', () => {
    for (const line of ['Pays ❤️ * invoices', '山田　太郎', 'x'.repeat(1024)])
      expect(isLine(line)).toBe(true)
  })

  it('refuses control and format characters, also late in the text', () => {
    expect(isLine(`${'x'.repeat(300)}\u0000`)).toBe(false)
    expect(isLine(`${'x'.repeat(300)}\u202e`)).toBe(false)
    expect(isLine('')).toBe(false)
  })
})

describe('fitsFreeForm', () => {
  it('never lets through more bytes than it says, and takes everything below', () => {
    const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length

    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.string({ unit: 'binary', maxLength: 9_000 }), { maxKeys: 9 }),
        (value) => fitsFreeForm(value) === bytes(value) <= 65_536,
      ),
    )
  })

  it('counts the names of lists of objects', () => {
    expect(fitsFreeForm({ list: Array.from({ length: 1_999 }, () => ({ a: 1 })) })).toBe(true)
    expect(fitsFreeForm({ list: Array.from({ length: 2_000 }, () => ({ a: 1 })) })).toBe(false)
  })
})
