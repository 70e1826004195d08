import { describe, expect, it } from 'vitest'
import { LIKE_A_WORD, wordLikeness } from './characters.ts'

describe('the likeness to a word', () => {
  it.each([
    'required',
    'changeme',
    'strengths',
    'erforderlich',
    'obligatoire',
    'wymagane',
    'dbPassword',
  ])('is high for %s', (word) => {
    expect(wordLikeness(word)).toBeGreaterThanOrEqual(LIKE_A_WORD)
  })

  it.each(['wqkzhvtxbmpj', 'ORcTYQWyGJ', 'xkjqzvwp'])('is low for %s', (letters) => {
    expect(wordLikeness(letters)).toBeLessThan(LIKE_A_WORD)
  })

  it('is not known of other letters, and of hardly any', () => {
    for (const text of ['пароль', '密码', 'a1b2c3', 'xq', ''])
      expect(wordLikeness(text)).toBe(Infinity)
  })
})
