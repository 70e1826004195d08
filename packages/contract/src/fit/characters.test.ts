import { expect, it } from 'vitest'
import { spellOut } from './characters.ts'

it('spells out without padding, and keeps what it is told to', () => {
  expect(spellOut('a\u0000b\u202ec\u{e0041}d')).toBe('a\\u{0}b\\u{202e}c\\u{e0041}d')
  expect(spellOut('a\n\tb\rc', { keep: '\n\t' })).toBe('a\n\tb\\u{d}c')
  expect(spellOut('\ud83d')).toBe('\\u{d83d}')
})

it('leaves visible text as it is', () => {
  const text = 'Zahle 40 € an Москва 東京, ça, हिन्दी, 😀 é \\u{202e}'

  expect(spellOut(text)).toBe(text)
})
