import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fitsFreeForm, fromMicroUsd, isName, isUsd, toMicroUsd } from './values.ts'

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

  it('refuses lone surrogates', () => {
    expect(isName('\ud800')).toBe(false)
    expect(isName('a\udfff')).toBe(false)
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
