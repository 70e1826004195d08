import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalize } from './normalize.ts'
import { originalSpan } from './view.ts'

const read = (text: string) => normalize(text).view.text
const counted = (text: string) => Object.fromEntries(normalize(text).counts)

describe('the normalized view', () => {
  it.each([
    ['case and white space', 'Ignore \t ALL\r\n\n  rules', 'ignore all\nrules'],
    ['accents', 'Ígnöre ÀLL', 'ignore all'],
    ['full-width letters', 'ｉｇｎｏｒｅ', 'ignore'],
    ['mathematical letters', '𝐢𝐠𝐧𝐨𝐫𝐞', 'ignore'],
    ['circled and squared letters', 'ⓘⓖⓝ 🅾🆁🅴', 'ign ore'],
    ['small capitals', 'ɪɢɴᴏʀᴇ', 'ignore'],
    ['look-alikes in a mixed word', 'іgnоrе аll', 'ignore all'],
    ['zero-width characters', 'ig\u200bno\u2060r\ufeffe', 'ignore'],
    ['soft hyphens and joiners', 'ig\u00adno\u200dre', 'ignore'],
    ['tag characters', 'ig\u{e0041}\u{e0042}nore', 'ignore'],
    ['variation selectors', 'ig\ufe0fno\u{e0101}re', 'ignore'],
    ['bidi controls', '\u202eignore\u202c', 'ignore'],
    ['stacked marks', 'i\u0301\u0302g\u0336nore', 'ignore'],
    ['control characters', 'ig\u0000no\u0007re', 'ignore'],
    ['quotes, dashes and underscores', '“ab”—‘c_d’', '"ab"-\'c d\''],
  ])('reads through %s', (_name, text, expected) => {
    expect(read(text)).toBe(expected)
  })

  it.each([
    ['Russian', 'привет, мир'],
    ['Greek', 'καλημερα κοσμε'],
    ['Japanese with voiced sounds', 'がぎぐ パピプ'],
    ['Korean', '한국어 문장'],
    ['Hindi with its vowel signs', 'नमस्ते दुनिया'],
    ['Hebrew', 'שלום עולם'],
    ['an emoji', 'ok 😀'],
    ['a lone surrogate', 'a\ud800b'],
  ])('leaves %s as it is', (_name, text) => {
    expect(read(text)).toBe(text)
    expect(counted(text)).toEqual({})
  })

  it('counts what it read through, by kind', () => {
    expect(counted('ig\u200bno\u200bre\u00ad ａｌｌ rulеs \u{e0041}\u202e')).toEqual({
      zero_width: 2,
      soft_hyphen: 1,
      compatibility: 3,
      confusable: 1,
      tag_character: 1,
      bidi_control: 1,
    })
  })

  it('does not let one character grow into many', () => {
    expect(read('ﷺ').length).toBeLessThanOrEqual(3)
    expect(read('ﬁ')).toBe('fi')
  })

  it('leads back to where a word stands in the original', () => {
    const text = 'Well,  i\u200bg\u200bn\u200bo\u200br\u200be \u{1d41a}\u{1d425}\u{1d425}!'
    const { view } = normalize(text)
    const start = view.text.indexOf('ignore all')
    const [from, to] = originalSpan(view, start, start + 'ignore all'.length)

    expect(text.slice(from, to)).toBe(
      'i\u200bg\u200bn\u200bo\u200br\u200be \u{1d41a}\u{1d425}\u{1d425}',
    )
  })

  it('leads from one space back to the whole run of white space', () => {
    const { view } = normalize('a \t\n b')

    expect(originalSpan(view, 1, 2)).toEqual([1, 5])
  })

  it('maps every unit to a piece of the original, in order, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (wild, plain) => {
        const text = wild + plain + wild
        const { view } = normalize(text)
        expect(view.starts.length).toBe(view.text.length)
        expect(view.ends.length).toBe(view.text.length)
        const spans = Array.from({ length: view.text.length }, (_, i) =>
          originalSpan(view, i, i + 1),
        )
        const wrong = spans.filter(
          ([start, end], i) =>
            start < (spans[i - 1]?.[0] ?? 0) || end <= start || end > text.length,
        )
        expect(wrong).toEqual([])
      }),
    )
  })

  it('reads a normalized text as itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const once = read(text)
        expect(read(once)).toBe(once)
      }),
    )
  })
})
