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
  const letters = Array.from({ length: 0x1_e950 }, (_, code) => String.fromCodePoint(code)).filter(
    (letter) => /\p{L}/u.test(letter) && !'ıİ'.includes(letter),
  )
  const unlike = letters.filter((letter) =>
    [letter.toUpperCase(), letter.toLowerCase()].some(
      (cased) => foldCase(cased) !== foldCase(letter),
    ),
  )

  expect(letters.length).toBeGreaterThan(70_000)
  expect(unlike).toEqual([])
})

it('keeps the Turkish letters apart as the standard does outside Turkish', () => {
  expect(foldCase('I')).toBe('i')
  expect(foldCase('ı')).toBe('ı')
  expect(foldCase('İ')).toBe('i\u0307')
})
