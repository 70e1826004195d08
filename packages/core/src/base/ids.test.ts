import { expect, test } from 'vitest'
import { randomIds, timeOfId } from './ids.ts'

// More than one pool of random characters is good for.
const MANY = 2_000

test('ids have their prefix, ten characters of time and sixteen random ones', () => {
  const ids = Array.from({ length: MANY }, (_, i) => randomIds.next('dec_', 1_700_000_000_000 + i))

  for (const id of ids) expect(id).toMatch(/^dec_[0-9a-hjkmnp-tv-z]{26}$/)
  expect(new Set(ids.map((id) => id.slice(14)))).toHaveProperty('size', MANY)
})

test('ids sort by their time, also when it goes back and forth', () => {
  const times = [0, 1, 31, 32, 1_700_000_000_000, 1_700_000_000_001, 2 ** 50 - 1]
  const made = [...times, ...times.toReversed()].map((ms) => ({ ms, id: randomIds.next('x', ms) }))

  const sorted = made.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ ms }) => ms)
  expect(sorted).toEqual(made.map(({ ms }) => ms).toSorted((a, b) => a - b))
  expect(randomIds.next('x', 0).slice(0, 11)).toBe('x0000000000')
  expect(randomIds.next('x', 2 ** 50 - 1).slice(0, 11)).toBe('xzzzzzzzzzz')
})

test('every random character comes up', () => {
  const seen = new Set(Array.from({ length: MANY }, () => randomIds.next('', 0).slice(10)).join(''))

  expect([...seen].toSorted().join('')).toBe('0123456789abcdefghjkmnpqrstvwxyz')
})

test('an id tells its time; any other text tells none', () => {
  for (const ms of [0, 1, 1_700_000_000_001, 253_402_300_799_999])
    expect(timeOfId(randomIds.next('dec_', ms))).toBe(ms)
  const made = randomIds.next('dec_', 0)
  for (const text of ['', 'dec_1', made.slice(1, -1), `${made}0`, `dec_${'z'.repeat(26)}`])
    expect(timeOfId(text)).toBeNull()
})
