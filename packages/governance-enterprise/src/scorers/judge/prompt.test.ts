import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { block, inert } from './providers.ts'

const unit = 'binary' as const

describe('judged text in its block', () => {
  it('cannot end the block, and is equal to a JSON reader', () => {
    const value = fc.oneof(
      fc.string({ unit }),
      fc.json().map((json): unknown => JSON.parse(json)),
    )

    fc.assert(
      fc.property(value, (given) => {
        const text = block('0123', 'output', given)

        expect(text.indexOf('</untrusted>')).toBe(text.length - '</untrusted>'.length)
        expect(text.match(/[<>]/g)).toHaveLength(4)
        const json = text.slice(text.indexOf('>') + 1, text.lastIndexOf('<'))
        expect(JSON.parse(json)).toEqual(given)
      }),
    )
  })

  it.each([
    ['an angle', '<'],
    ['the end of one', '>'],
    ['a line separator', '\u2028'],
    ['an override', '\u202e'],
    ['an isolate', '\u2067'],
    ['a mark of direction', '\u200f'],
    ['a tag', '\u{e0041}'],
    ['a further variation selector', '\u{e0100}'],
    ['a byte order mark', '\ufeff'],
    ['a zero-width space', '\u200b'],
    ['a word joiner', '\u2060'],
    ['a line break', '\n'],
    ['half a pair', '\ud800'],
  ])('is shown by its number: %s', (_, character) => {
    const text = inert(`a${character}b`)

    expect(text).not.toContain(character)
    expect(text).toMatch(/^"a(\\u[0-9a-f]{4}|\\n)+b"$/)
  })

  it.each(['كتاب می‌خوانم', 'กขค', '👩‍👩‍👧', 'é', 'naïve “quotes”'])(
    'stays readable where people write so: %s',
    (text) => {
      expect(inert(text)).toBe(JSON.stringify(text))
    },
  )
})
