import { afterEach, describe, expect, it, vi } from 'vitest'
import { isCompleteRun, isFullRun, pairs, sampled } from './runs.ts'
import type * as Runs from './runs.ts'

describe('the extent of a run', () => {
  afterEach(() => vi.unstubAllEnvs())
  /** Loads the module anew. */
  const extentOf = async (value: string | undefined) => {
    vi.stubEnv('REMIT_TEST_RUNS', value)
    const { isFullRun: full, isCompleteRun: complete } = (await import(
      `./runs.ts?extent=${value}`
    )) as typeof Runs
    return { full, complete }
  }

  it.each([
    [undefined, { full: false, complete: false }],
    ['full', { full: true, complete: false }],
    ['complete', { full: true, complete: true }],
  ])('is chosen by REMIT_TEST_RUNS=%s', async (value, expected) => {
    expect(await extentOf(value)).toEqual(expected)
  })

  it.each(['', 'all', 'FULL'])('is never less than asked for: "%s" is refused', async (value) => {
    await expect(extentOf(value)).rejects.toThrow('REMIT_TEST_RUNS must be full or complete')
  })
})

describe('pairs', () => {
  it('has every value of both lists, and in a complete run every combination once', () => {
    const found = pairs(['a', 'b', 'c'], [1, 2])

    expect(new Set(found.map(([one]) => one))).toEqual(new Set(['a', 'b', 'c']))
    expect(new Set(found.map(([, other]) => other))).toEqual(new Set([1, 2]))
    expect(new Set(found.map(String)).size).toBe(isCompleteRun ? 6 : 3)
  })
})

describe.skipIf(isFullRun)('a sample', () => {
  it('has each case in one of so many runs, in its order', () => {
    const found = new Set(Array.from({ length: 100 }, () => sampled([1, 2, 3, 4, 5], 2).join()))

    expect(found).toEqual(new Set(['1,3,5', '2,4']))
  })

  it('of a short list has one case', () => {
    for (let i = 0; i < 100; i++) expect(sampled(['a', 'b'])).toHaveLength(1)
    expect(sampled([])).toEqual([])
  })
})

describe.runIf(isFullRun)('a sample in a full run', () => {
  it('is half of a list, and in a complete run the whole list', () => {
    expect(sampled(['a', 'b', 'c', 'd'])).toHaveLength(isCompleteRun ? 4 : 2)
  })

  it('is the whole list where a change could break each case', () => {
    expect(sampled(['a', 'b', 'c'], 5, 1)).toEqual(['a', 'b', 'c'])
  })
})
