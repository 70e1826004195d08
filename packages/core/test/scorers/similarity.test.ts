import { describe, expect, it } from 'vitest'
import { answerOf, code, entry, score } from './support.ts'

describe('levenshtein and jaro_winkler', () => {
  it('count code points, not UTF-16 units', async () => {
    const faces = { output: '😀', expected: '😃' }

    expect(await score('levenshtein', faces)).toBe(0)
    expect(await score('jaro_winkler', faces)).toBe(0)
    expect(await entry('levenshtein', { output: '👍🏽ab', expected: '👍ab' })).toMatchObject({
      score: 0.75,
      metadata: { distance: 1 },
    })
  })

  it('give 1 for two empty texts and 0 where one is empty', async () => {
    for (const name of ['levenshtein', 'jaro_winkler']) {
      expect(await score(name, { output: '', expected: '' })).toBe(1)
      expect(await score(name, { output: '', expected: 'a' })).toBe(0)
      expect(await score(name, { output: 'a', expected: '' })).toBe(0)
    }
  })

  it('take the best of several alternatives', async () => {
    const result = { output: 'colour', expected: ['hue', 'color', 'colours'] }

    expect(await entry('levenshtein', result)).toMatchObject({
      score: 1 - 1 / 7,
      metadata: { distance: 1, alternative: 2 },
    })
  })

  it('say in the reason what was compared with what', async () => {
    const { scores } = await answerOf(
      'levenshtein',
      [{ output: 'abcdef', expected: 'abcdeX' }],
      {},
      0.8,
    )
    const negated = await entry('levenshtein', { output: 'ab', expected: 'aX' }, { negate: true })

    expect(scores[0]!.reason).toBe('similarity 0.8333 >= 0.8')
    expect(negated.reason).toBe('similarity 0.5 >= 0.5 (negated)')
  })

  it('never says by rounding that a score that fails would pass', async () => {
    const output = 'a'.repeat(40_000)
    const result = { output, expected: `b${output.slice(1)}` }
    const { scores } = await answerOf('levenshtein', [result], {}, 1)

    expect(scores[0]).toMatchObject({ passed: false, reason: 'similarity 0.999975 < 1' })
  })

  it('normalize before they compare, and hold what that makes to the limit too', async () => {
    const params = { ignore_case: true, ignore_punctuation: true, ignore_whitespace: 'collapse' }
    expect(
      await score('levenshtein', { output: 'STRASSE,  1', expected: 'straße 1' }, params),
    ).toBe(1)

    // Each of these is 18 letters in NFKC.
    const output = '\ufdfa'.repeat(4_000)
    expect(
      await code('levenshtein', { output, expected: 'a' }, { unicode_normalization: 'NFKC' }),
    ).toBe('limit_exceeded')
    expect(await score('levenshtein', { output, expected: 'a' })).toBe(0)
  })

  it('hold texts to what their cost allows', async () => {
    const of = (length: number) => ({ output: 'a'.repeat(length), expected: 'a' })

    expect(await code('levenshtein', of(50_000))).toBeUndefined()
    expect(await code('levenshtein', of(50_001))).toBe('limit_exceeded')
    expect(await code('jaro_winkler', of(10_000))).toBeUndefined()
    expect(await code('jaro_winkler', of(10_001))).toBe('limit_exceeded')
  })

  it('give the bonus for a common beginning only to texts that are alike', async () => {
    const jaro = await score(
      'jaro_winkler',
      { output: 'abxyz', expected: 'abqrs' },
      { prefix_weight: 0 },
    )

    expect(jaro).toBeLessThan(0.7)
    expect(await score('jaro_winkler', { output: 'abxyz', expected: 'abqrs' })).toBe(jaro)
    expect(await score('jaro_winkler', { output: 'MARTHA', expected: 'MARHTA' })).toBeCloseTo(
      0.9611,
      4,
    )
  })
})

describe('token_f1', () => {
  it('drops English articles at Unicode word borders only', async () => {
    expect(await score('token_f1', { output: 'año', expected: 'ño' })).toBe(0)
    expect(await score('token_f1', { output: 'an\u0303o', expected: '\u0303o' })).toBe(0)
    expect(await score('token_f1', { output: 'a dog', expected: 'the dog!' })).toBe(1)
  })

  it('counts a word as often as it occurs', async () => {
    expect(await score('token_f1', { output: 'no no no', expected: 'no' })).toBe(0.5)
  })

  it('takes an answer without words for right only where none is expected', async () => {
    expect(await score('token_f1', { output: 'The.', expected: 'a' })).toBe(1)
    expect(await score('token_f1', { output: '', expected: 'Paris' })).toBe(0)
    expect(await score('token_f1', { output: 'Paris', expected: '' })).toBe(0)
  })

  it('parts words at every white space of Unicode', async () => {
    expect(await score('token_f1', { output: 'New\u00a0York', expected: 'York New' })).toBe(1)
  })
})

describe('rouge', () => {
  it('counts a repeated word no oftener than the other text has it', async () => {
    const result = { output: 'the the the', expected: 'the cat' }

    expect(await entry('rouge_1', result)).toMatchObject({
      metadata: { precision: expect.closeTo(1 / 3, 9), recall: 0.5 },
    })
    expect(await score('rouge_1', result, { metric: 'precision' })).toBeCloseTo(1 / 3, 9)
    expect(await score('rouge_1', result, { metric: 'recall' })).toBe(0.5)
  })

  it('gives 0 for texts without words, and never fails on them', async () => {
    for (const name of ['rouge_1', 'rouge_2', 'rouge_l']) {
      expect(await score(name, { output: '', expected: '' })).toBe(0)
      expect(await score(name, { output: '...', expected: 'a b c' })).toBe(0)
      expect(await score(name, { output: 'one', expected: 'one' })).toBe(name === 'rouge_2' ? 0 : 1)
    }
  })

  it('reads other scripts when told to, and warns when it was not', async () => {
    const thai = { output: 'สวัสดี ครับ', expected: 'สวัสดี ครับ' }
    const blind = await entry('rouge_l', thai)

    expect(blind.score).toBe(0)
    expect(blind.reason).toContain('tokenizer "unicode" reads any script')
    expect(await entry('rouge_l', thai, { tokenizer: 'unicode' })).toMatchObject({
      score: 1,
      reason: 'fmeasure 1 >= 0.5',
    })
  })
})

describe('bleu and chrf', () => {
  it('give an identical text exactly 1', async () => {
    const output = 'The quick brown fox jumps over the lazy dog, twice.'

    expect(await score('bleu', { output, expected: output })).toBe(1)
    expect(await score('chrf', { output, expected: output })).toBe(1)
    expect(await score('bleu', { output: 'ok', expected: 'ok' })).toBe(1)
  })

  it('know that the mean over sentences is not the score of the corpus', async () => {
    const { aggregate } = await answerOf('bleu', [
      { output: 'the dog bit the man', expected: 'the dog bit the man' },
      { output: 'it was not unexpected at all', expected: 'no one was surprised' },
      {},
    ])

    expect(aggregate.scored).toBe(2)
    expect(aggregate.corpus_score).not.toBeCloseTo(aggregate.mean!, 2)
  })

  it('has no corpus score where nothing could be scored', async () => {
    expect((await answerOf('bleu', [{}])).aggregate.corpus_score).toBeNull()
  })

  it('refuse options that belong to others', async () => {
    await expect(
      score('bleu', { output: 'a', expected: 'a' }, { smooth_value: 1 }),
    ).rejects.toMatchObject({ code: 'invalid_params' })
  })
})
