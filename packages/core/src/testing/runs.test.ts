import { describe, expect, it } from 'vitest'
import { isFullRun, pairs, sampled, sampleOf } from './runs.ts'

describe('pairs', () => {
  it('has every value of both lists, and in a full run every combination once', () => {
    const found = pairs(['a', 'b', 'c'], [1, 2])

    expect(new Set(found.map(([one]) => one))).toEqual(new Set(['a', 'b', 'c']))
    expect(new Set(found.map(([, other]) => other))).toEqual(new Set([1, 2]))
    expect(new Set(found.map(String)).size).toBe(isFullRun ? 6 : 3)
  })
})

describe('a sample', () => {
  it('has each case in one of so many runs, in its order', () => {
    const found = new Set(Array.from({ length: 100 }, () => sampleOf([1, 2, 3, 4, 5], 2).join()))

    expect(found).toEqual(new Set(['1,3,5', '2,4']))
  })

  it('of a short list has one case', () => {
    for (let i = 0; i < 100; i++) expect(sampleOf(['a', 'b'], 5)).toHaveLength(1)
    expect(sampleOf([], 5)).toEqual([])
  })

  it('is the whole list in a full run', () => {
    expect(sampled(['a', 'b'])).toHaveLength(isFullRun ? 2 : 1)
  })
})
