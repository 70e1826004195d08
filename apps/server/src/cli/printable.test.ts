import { expect, it } from 'vitest'
import { printable } from './table.ts'

it.each([
  '\u001b',
  '\u202e',
  '\u200b',
  '\u3164',
  '\u115f',
  '\u034f',
  '\ufe0f',
  '\u{e0141}',
  '\u2800',
  '\u00a0',
  '\u2028',
])('a person sees that a text has %j', (character) => {
  expect(printable(`pa${character}y`)).not.toContain(character)
})

it('leaves visible text as it is', () => {
  const text = 'Zahle 40 \u20ac an \u041c\u043e\u0441\u043a\u0432\u0430 \u6771\u4eac.'

  expect(printable(text)).toBe(text)
})
