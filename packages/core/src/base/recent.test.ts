import { expect, it } from 'vitest'
import { Recent } from './recent.ts'

it('keeps as many as it may, and those that were kept last', () => {
  const recent = new Recent<number>(2)

  recent.keep('a', 1)
  recent.keep('b', 2)
  recent.keep('a', 3)
  recent.keep('c', 4)

  expect(['a', 'b', 'c'].map((key) => recent.get(key))).toEqual([3, undefined, 4])
})
