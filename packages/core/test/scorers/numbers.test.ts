import { describe, expect, it } from 'vitest'
import { cpuMsOf } from '@remit/testing/pure'
import { code, entry, score } from './support.ts'

describe('numeric_diff', () => {
  const near = (output: unknown, expected: unknown, params = {}) =>
    score('numeric_diff', { output, expected }, params)

  it.each([
    [0, 0, 1],
    [1, 3, 0.5],
    [-2, 2, 0],
    ['5', 5, 1],
    [' +5.0e0 ', 5, 1],
    ['.5', 0.5, 1],
    ['5.', 5, 1],
    [1e308, 1e308, 1],
    [1e308, -1e308, 0],
    [1.5e308, 0.5e308, 0.5],
    ['0x10', 16, 0],
    ['1,000', 1000, 0],
    ['', 0, 0],
    ['five', 5, 0],
    ['1e999', 5, 0],
    [true, 1, 0],
    [[5], 5, 0],
    ['\u00a05\u3000', 5, 1],
  ])('%j is to %j as %d', async (output, expected, wanted) => {
    expect(await near(output, expected)).toBeCloseTo(wanted, 12)
  })

  it('has no score where the expected value is no number', async () => {
    for (const expected of ['five', true, [], ['5', 'x'], {}, '1e999'])
      expect(await code('numeric_diff', { output: 5, expected })).toBe('invalid_expected')
  })

  it('takes the best of several alternatives', async () => {
    expect(await near(3, [1, 3])).toBe(1)
    expect(await near('3', [1, '2'])).toBe(0.8)
  })

  it.each([
    ['between 1,234.5 and 2', 'first', 1234.5],
    ['between 1,234.5 and 2.', 'last', 2],
    ['1,2,3', 'last', 3],
    ['it fell by \u221212,000', 'last', -12000],
    ['pages 10-20', 'last', 20],
    ['a -5 b', 'first', -5],
    ['(-5)', 'first', -5],
    ['1.5e3 m', 'first', 1500],
    ['1,2345', 'first', 1],
    ['$1,000,000.25!', 'first', 1_000_000.25],
    ['.5', 'first', 0.5],
  ])('finds a number in a text: %j (%s)', async (output, extract, wanted) => {
    expect(await near(output, wanted, { extract, mode: 'tolerance' })).toBe(1)
  })

  it('gives 0 for a text without a number', async () => {
    expect(await near('none at all', 1, { extract: 'first' })).toBe(0)
  })

  it('is within a tolerance as math.isclose of Python is', async () => {
    const close = (output: number, expected: number, params = {}) =>
      near(output, expected, { mode: 'tolerance', ...params })

    expect(await close(1, 1 + 1e-10)).toBe(1)
    expect(await close(1, 1 + 1e-8)).toBe(0)
    expect(await close(0, 1e-10)).toBe(0)
    expect(await close(0, 1e-10, { abs_tol: 1e-9 })).toBe(1)
    expect(await close(90, 100, { rel_tol: 0.1 })).toBe(1)
    expect(await close(1e308, -1e308, { rel_tol: 0.5 })).toBe(0)
  })

  it('answers at once on digits made to slow a pattern down', async () => {
    const outputs = [`${'1'.repeat(99_999)}x`, ' '.repeat(99_999), `a${' '.repeat(99_990)}b`]
    const took = await cpuMsOf(async () => {
      for (const output of outputs) {
        expect(await near(output, 1)).toBe(0)
        await near(output, 1, { extract: 'last' })
      }
    })

    expect(took).toBeLessThan(2_000)
  })
})

describe('length_range', () => {
  it.each([
    ['😀é', 'chars', 2],
    ['', 'chars', 0],
    [' a\u00a0b\u3000c ', 'words', 3],
    ['', 'words', 0],
    ['', 'lines', 0],
    ['a', 'lines', 1],
    ['a\n', 'lines', 1],
    ['a\r\nb\rc\n\n', 'lines', 4],
    ['\n', 'lines', 1],
  ])('%j has in %s: %d', async (output, unit, length) => {
    const exact = { unit, min: length, max: length }

    expect(await entry('length_range', { output }, exact)).toMatchObject({
      score: 1,
      metadata: { length },
    })
    expect(await score('length_range', { output }, { unit, min: length + 1 })).toBe(0)
  })

  it('refuses bounds that say nothing', async () => {
    for (const params of [{}, { min: 3, max: 2 }, { max: -1 }, { min: 1.5 }])
      await expect(score('length_range', { output: 'a' }, params)).rejects.toMatchObject({
        code: 'invalid_params',
      })
  })
})

describe('latency and cost', () => {
  it('pass up to the maximum', async () => {
    expect(await score('latency', { latency_ms: 100 }, { max_ms: 100 })).toBe(1)
    expect(await score('latency', { latency_ms: 100.1 }, { max_ms: 100 })).toBe(0)
    expect(await score('cost', { cost_usd: 0 }, { max_usd: 0 })).toBe(1)
    expect(await code('latency', { latency_ms: null }, { max_ms: 1 })).toBe('missing_field')
    expect(await code('cost', {}, { max_usd: 1 })).toBe('missing_field')
  })

  it('fall from the target to the maximum', async () => {
    const of = (latency_ms: number) =>
      score('latency', { latency_ms }, { target_ms: 100, max_ms: 200 })

    expect([await of(100), await of(150), await of(200), await of(900)]).toEqual([1, 0.5, 0, 0])
    await expect(
      score('cost', { cost_usd: 1 }, { target_usd: 2, max_usd: 2 }),
    ).rejects.toMatchObject({ code: 'invalid_params' })
  })
})

describe('embedding_similarity', () => {
  const of = (a: number[] | null, b: number[] | null, params = {}) =>
    entry('embedding_similarity', { output_embedding: a, expected_embedding: b }, params)

  it('is the cosine, spread from the minimum', async () => {
    expect((await of([1, 0], [1, 0])).score).toBe(1)
    expect((await of([1, 0], [-1, 0])).score).toBe(0)
    expect((await of([1, 0], [-1, 0], { min: -1 })).score).toBe(0)
    expect((await of([1, 0], [0, 1], { min: -1 })).score).toBe(0.5)
    expect((await of([3, 4], [4, 3], { min: 0.7 })).score).toBeCloseTo((0.96 - 0.7) / 0.3, 9)
  })

  it('neither overflows nor vanishes', async () => {
    expect((await of([1e308, 1e308], [1e308, 1e308])).score).toBeCloseTo(1, 12)
    expect((await of([1e-300, 0], [1e-300, 0])).score).toBe(1)
  })

  it('has no score for vectors that cannot be compared', async () => {
    for (const [a, b] of [
      [
        [0, 0],
        [1, 0],
      ],
      [
        [1, 0],
        [0, 0],
      ],
      [[1], [1, 0]],
      [[], []],
    ] as const)
      expect((await of([...a], [...b])).error?.code).toBe('invalid_embedding')
    expect((await of(null, [1])).error).toEqual({
      code: 'missing_field',
      field: 'output_embedding',
    })
  })
})
