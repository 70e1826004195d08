import { describe, expect, it } from 'vitest'
import { isFullRun, pairs } from './runs.ts'

describe('pairs', () => {
  it('has every value of both lists, and in a full run every combination once', () => {
    const found = pairs(['a', 'b', 'c'], [1, 2])

    expect(new Set(found.map(([one]) => one))).toEqual(new Set(['a', 'b', 'c']))
    expect(new Set(found.map(([, other]) => other))).toEqual(new Set([1, 2]))
    expect(new Set(found.map(String)).size).toBe(isFullRun ? 6 : 3)
  })
})
