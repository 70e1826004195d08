import { expect, test } from 'vitest'
import { FirstErrors } from './report.ts'

const collected = (errors: readonly { seq: number; code: string }[]) => {
  const found = new FirstErrors<{ seq: number; code: string }>()
  for (const error of errors) found.add(error)
  return found
}
const many = (from: number, count: number, code = 'late') =>
  Array.from({ length: count }, (_, i) => ({ seq: from + i, code }))

test('nothing was found', () => {
  const { count, list, first, ofEachCode } = collected([])
  expect({ count, list, first, ofEachCode }).toEqual({
    count: 0,
    list: [],
    first: null,
    ofEachCode: [],
  })
})

test('the first hundred are those of the lowest sequence numbers, found first or last', () => {
  const early = many(7, 3, 'early')

  for (const errors of [
    [...many(50, 150), ...early],
    [...early, ...many(50, 150)],
    [...many(50, 99), ...early.toReversed(), ...many(149, 51)],
  ]) {
    const found = collected(errors)
    expect(found.count).toBe(153)
    expect(found.first).toEqual(early[0])
    expect(found.list).toEqual([...early, ...many(50, 97)])
  }
})

test('the first of each code is known, also behind a hundred others', () => {
  const found = collected([...many(5, 150), { seq: 900, code: 'rare' }, { seq: 800, code: 'rare' }])

  expect(found.ofEachCode).toEqual([
    { seq: 5, code: 'late' },
    { seq: 800, code: 'rare' },
  ])
  expect(found.list).toEqual(many(5, 100))
})

test('of those at one entry the one that was found first comes first', () => {
  const found = collected([
    { seq: 4, code: 'b' },
    { seq: 4, code: 'a' },
    { seq: 3, code: 'c' },
  ])
  expect(found.list.map(({ code }) => code).join('')).toBe('cba')
})
