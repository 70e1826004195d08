import { expect, it } from 'vitest'
import { percentile } from './percentile.ts'

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

it.each([
  [[], 50, null],
  [[7], 50, 7],
  [[7], 95, 7],
  [[1, 2], 50, 1],
  [[1, 2, 3], 50, 2],
  [upTo(20), 95, 19],
  [upTo(21), 95, 20],
  [upTo(100), 95, 95],
  [upTo(100), 100, 100],
] as const)('of %j at %i%% is %s', (sorted, percent, expected) => {
  expect(percentile(sorted, percent)).toBe(expected)
})
