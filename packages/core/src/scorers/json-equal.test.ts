import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonEqual } from './json-equal.ts'

it('agrees with itself read back in another key order, and with nothing else', () => {
  const reversed = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(reversed)
    return Object.fromEntries(
      Object.entries(value)
        .map(([name, item]) => [name, reversed(item)] as const)
        .toReversed(),
    )
  }
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (value, other) => {
      expect(jsonEqual(value, reversed(value))).toBe(true)
      expect(jsonEqual({ value }, { value: [value] })).toBe(false)
      expect(jsonEqual(value, other)).toBe(jsonEqual(other, value))
    }),
  )
})

it('compares values nested deeper than the call stack', () => {
  const deep = (core: string): unknown =>
    JSON.parse('['.repeat(100_000) + core + ']'.repeat(100_000))

  expect(jsonEqual(deep('1'), deep('1'))).toBe(true)
  expect(jsonEqual(deep('1'), deep('2'))).toBe(false)
})
