import fc from 'fast-check'
import { expect, it } from 'vitest'
import { foldCase } from './text.ts'

it('folds a text and its folded form to the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(foldCase(foldCase(text))).toBe(foldCase(text))
    }),
  )
})

it('folds upper, lower and title case of every letter alike, but for the dotless i', () => {
  for (let code = 0; code < 0x1_e950; code++) {
    const letter = String.fromCodePoint(code)
    if (!/\p{L}/u.test(letter) || 'ıİ'.includes(letter)) continue
    expect(foldCase(letter.toUpperCase())).toBe(foldCase(letter))
    expect(foldCase(letter.toLowerCase())).toBe(foldCase(letter))
  }
})

it('keeps the Turkish letters apart as the standard does outside Turkish', () => {
  expect(foldCase('I')).toBe('i')
  expect(foldCase('ı')).toBe('ı')
  expect(foldCase('İ')).toBe('i\u0307')
})
