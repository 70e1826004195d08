import { expect, it } from 'vitest'
import { SharedValues, sharedList, sharedSet } from './direct.ts'

it('shares one copy of equal values', () => {
  expect(sharedList(['a', 'b'])).toBe(sharedList(['a', 'b']))
  expect(sharedList(['b', 'a'])).not.toBe(sharedList(['a', 'b']))
  expect(sharedSet(new Set(['a', 'b']))).toBe(sharedSet(new Set(['b', 'a'])))
  expect(sharedSet(new Set(['a', 'b']))).toEqual(new Set(['a', 'b']))
  expect(sharedSet(new Set(['a,b']))).not.toBe(sharedSet(new Set(['a', 'b'])))
})

it('keeps nothing under a long key', () => {
  const pool = new SharedValues<object>()
  const made = (key: string) => pool.get(key, () => ({}))

  expect(made('k'.repeat(1_000))).toBe(made('k'.repeat(1_000)))
  expect(made('k'.repeat(1_001))).not.toBe(made('k'.repeat(1_001)))
})

it('drops the least recently used value beyond its limit', () => {
  const pool = new SharedValues<object>()
  const first = pool.get('0', () => ({}))
  const second = pool.get('1', () => ({}))
  for (let i = 2; i < 10_000; i++) pool.get(`${i}`, () => ({}))

  expect(pool.get('0', () => ({}))).toBe(first)
  pool.get('one more', () => ({}))
  expect(pool.get('0', () => ({}))).toBe(first)
  expect(pool.get('1', () => ({}))).not.toBe(second)
})
