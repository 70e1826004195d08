import { describe, expect, it } from 'vitest'
import { cpuMsOf } from '@remit/testing/pure'
import { code, entry, score } from './support.ts'
import type { Params } from './support.ts'

describe('exact_match', () => {
  it('compares texts strictly unless a parameter says otherwise', async () => {
    expect(await score('exact_match', { output: '1.0', expected: '1' })).toBe(0)
    expect(await score('exact_match', { output: 'yes ', expected: 'yes' })).toBe(0)
    expect(await score('exact_match', { output: '{"a":1}', expected: '{ "a": 1 }' })).toBe(0)
    expect(await score('exact_match', { output: '', expected: '' })).toBe(1)
  })

  it.each([
    [1.0, '1.0', 1],
    ['1.0', 1, 1],
    [1, true, 0],
    ['1', true, 0],
    ['true', true, 1],
    [0, -0, 1],
    ['not json', 5, 0],
    [{ a: 1, b: [2] }, '{"b":[2],"a":1}', 1],
    [[1, 2], [2, 1], 0],
    [[1, 2], [1, 2], 1],
    ['[1]', [1], 0],
    [{}, { constructor: 1 }, 0],
    [{ constructor: {} }, {}, 0],
    [JSON.parse('{"__proto__":{}}'), { a: 1 }, 0],
    [JSON.parse('{"__proto__":{"a":1}}'), {}, 0],
    [[], {}, 0],
    [[null], [], 0],
  ])('compares JSON by value, never by spelling: %j with %j', async (output, expected, wanted) => {
    expect(await score('exact_match', { output, expected })).toBe(wanted)
  })

  it('takes the best of several alternatives and names it', async () => {
    const found = await entry('exact_match', { output: 'b', expected: ['a', 'b', 'b'] })

    expect([found.score, found.metadata['alternative']]).toEqual([1, 1])
    expect(await code('exact_match', { output: 'b', expected: [] })).toBe('invalid_expected')
    expect(await code('exact_match', { output: 'b', expected: ['b', null] })).toBe(
      'invalid_expected',
    )
  })

  it('folds case fully, as Unicode does', async () => {
    const params = { ignore_case: true }
    const pairs = [
      ['straße', 'STRASSE'],
      ['ẞ', 'ss'],
      ['ΟΔΟΣ', 'οδός'.normalize('NFD').replace('\u0301', '')],
      ['ﬁn', 'FIN'],
      ['K', 'k'],
    ] as const
    for (const [output, expected] of pairs) {
      expect(await score('exact_match', { output, expected }, params)).toBe(1)
      expect(await score('exact_match', { output, expected })).toBe(0)
    }
    expect(await score('exact_match', { output: 'ı', expected: 'I' }, params)).toBe(0)
  })

  it('sees composed and decomposed letters as one only when asked to', async () => {
    const result = { output: 'caf\u00e9', expected: 'cafe\u0301' }

    expect(await score('exact_match', result)).toBe(0)
    expect(await score('exact_match', result, { unicode_normalization: 'NFC' })).toBe(1)
    const wide = { output: 'Ａ１', expected: 'A1' }
    expect(await score('exact_match', wide, { unicode_normalization: 'NFC' })).toBe(0)
    expect(await score('exact_match', wide, { unicode_normalization: 'NFKC' })).toBe(1)
  })

  it('leaves out white space and punctuation only as far as asked', async () => {
    const spaced = { output: '\u00a0a  b\n', expected: 'a b' }
    expect(await score('exact_match', spaced, { ignore_whitespace: 'trim' })).toBe(0)
    expect(await score('exact_match', spaced, { ignore_whitespace: 'collapse' })).toBe(1)
    const padded = { output: '\u00a0a b\u3000\n', expected: 'a b' }
    expect(await score('exact_match', padded)).toBe(0)
    expect(await score('exact_match', padded, { ignore_whitespace: 'trim' })).toBe(1)
    const punctuated = { output: '«£5, ok!»', expected: '5 ok' }
    expect(await score('exact_match', punctuated, { ignore_punctuation: true })).toBe(1)
  })

  it('normalizes as SQuAD does, and "año" keeps its a', async () => {
    const squad = { normalize: 'squad' }
    expect(
      await score('exact_match', { output: 'The  Cat, sat.', expected: 'cat sat' }, squad),
    ).toBe(1)
    expect(await score('exact_match', { output: 'año', expected: 'ño' }, squad)).toBe(0)
    expect(await score('exact_match', { output: 'an\u0303o', expected: '\u0303o' }, squad)).toBe(0)
  })
})

describe('contains', () => {
  it('finds a text anywhere, at the start or at the end', async () => {
    const at = (position: string, expected: string) =>
      score('contains', { output: 'one two one', expected }, { position })

    expect(await at('any', 'two')).toBe(1)
    expect(await at('start', 'two')).toBe(0)
    expect(await at('start', 'one')).toBe(1)
    expect(await at('end', 'two one')).toBe(1)
    expect(await at('end', 'two')).toBe(0)
  })

  it('finds whole words by Unicode letters, marks and digits', async () => {
    const whole = (output: string, expected: string) =>
      score('contains', { output, expected }, { whole_word: true })

    expect(await whole('concatenate the cat', 'cat')).toBe(1)
    expect(await whole('concatenate', 'cat')).toBe(0)
    expect(await whole('Čat, cate\u0301', 'at')).toBe(0)
    expect(await whole('cat\u0301', 'cat')).toBe(0)
    expect(await whole('cat_food cat9', 'cat')).toBe(0)
    expect(await whole('𝒳cat', 'cat')).toBe(0)
    expect(await whole('🙂cat🙂', 'cat')).toBe(1)
  })

  it('takes any one of several texts, from expected or from the parameter', async () => {
    const any = { output: 'refund granted', expected: ['denied', 'granted'] }

    expect(await entry('contains', any)).toMatchObject({ score: 1, metadata: { alternative: 1 } })
    expect(await score('contains', { output: 'a 14 b', expected: 14 })).toBe(1)
    expect(await score('contains', any, { value: ['x', 'y'] })).toBe(0)
    expect(await score('contains', { output: 'GROSS' }, { value: 'groß', ignore_case: true })).toBe(
      1,
    )
  })

  it('folds a final sigma as any other', async () => {
    const result = { output: 'ΟΔΟΣΑ', expected: 'οδος' }

    expect(await score('contains', result, { ignore_case: true })).toBe(1)
  })

  it('has no answer where there is nothing to look for', async () => {
    expect(await code('contains', { output: 'a' })).toBe('missing_field')
    expect(await code('contains', { output: 'a', expected: '' })).toBe('invalid_expected')
    expect(await code('contains', { output: 'a', expected: [] })).toBe('invalid_expected')
    expect(
      await code('contains', { output: 'a', expected: '!' }, { ignore_punctuation: true }),
    ).toBe('invalid_expected')
  })

  it('answers at once on texts made to slow a search down', async () => {
    const output = 'a'.repeat(100_000)
    const half = 'a'.repeat(25_000)
    const took = await cpuMsOf(async () => {
      expect(await score('contains', { output, expected: `${half}b${half}` })).toBe(0)
      expect(await score('contains', { output, expected: half }, { whole_word: true })).toBe(0)
    })

    expect(took).toBeLessThan(2_000)
  })
})

describe('regex_match', () => {
  const matches = (output: unknown, params: Params) => score('regex_match', { output }, params)

  it('searches, or with full matches the whole output', async () => {
    expect(await matches('so: 42!', { pattern: '\\d+' })).toBe(1)
    expect(await matches('so: 42!', { pattern: '\\d+', full: true })).toBe(0)
    expect(await matches('42', { pattern: '\\d+', full: true })).toBe(1)
    expect(await matches('42\n', { pattern: '\\d+', full: true })).toBe(0)
    expect(await matches({ b: 1, a: 2 }, { pattern: '^\\{"a":2,"b":1\\}$' })).toBe(1)
  })

  it('takes the flags i, m and s', async () => {
    expect(await matches('A\nb', { pattern: '^a.B$', flags: 'is' })).toBe(1)
    expect(await matches('A\nb', { pattern: '^a.B$', flags: 'i' })).toBe(0)
    expect(await matches('x\nyes', { pattern: '^yes$', flags: 'm' })).toBe(1)
    expect(await matches('x\nyes', { pattern: '^yes$' })).toBe(0)
  })

  it('negates', async () => {
    expect(await matches('fine', { pattern: 'error', negate: true })).toBe(1)
  })

  it('takes time linear in the output for patterns that make others backtrack', async () => {
    const output = `${'a'.repeat(99_999)}!`
    const took = await cpuMsOf(async () => {
      for (const pattern of ['^(a+)+$', '(a|aa)+$', '^(([a-z])+.)+[A-Z]([a-z])+$'])
        expect(await matches(output, { pattern })).toBe(0)
    })

    expect(took).toBeLessThan(3_000)
  })

  it('refuses a long output for a pattern that compiles to very many steps', async () => {
    const params = { pattern: '\\pL{0,999}\\pN\\pL{0,999}' }

    expect(await matches('é1', params)).toBe(1)
    expect(await code('regex_match', { output: 'é'.repeat(100_000) }, params)).toBe(
      'limit_exceeded',
    )
  })

  it.each([
    ['a backreference', '(a)\\1'],
    ['a lookahead', '(?=a)'],
    ['a lookbehind', '(?<=a)b'],
    ['wrong syntax', '['],
    ['too many repeats of one part', 'a{1001}'],
    ['too many repeats together', '(?:.{0,999}b){1000}'],
    ['a large part repeated often', `(?:${'abc'.repeat(300)}){1000}`],
    ['no pattern', ''],
    ['a part repeated into very many steps', `(?:${'abc'.repeat(30)}){1000}`],
    ['more than 1,000 characters', 'a'.repeat(1001)],
  ])('refuses the whole request for %s', async (_name, pattern) => {
    await expect(matches('a', { pattern })).rejects.toMatchObject({
      code: 'invalid_params',
      extras: { errors: [expect.objectContaining({ path: 'params.pattern' })] },
    })
  })

  it('refuses a huge pattern before it spends the time to compile it', async () => {
    const pattern = `(?:${'abc'.repeat(300)}){1000}`

    await expect(matches('a', { pattern })).rejects.toThrow('has too many repetitions')
  })

  it('refuses flags it does not have', async () => {
    await expect(matches('a', { pattern: 'a', flags: 'g' })).rejects.toMatchObject({
      code: 'invalid_params',
    })
  })
})
