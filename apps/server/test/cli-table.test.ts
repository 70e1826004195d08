import { expect, it } from 'vitest'
import { table } from '../src/cli/table.ts'

it('a table has as many rows as there are', () => {
  const rows = Array.from({ length: 200_000 }, (_, i) => [`${i}`, 'x'])
  const lines = table(['row', 'what'], rows).split('\n')

  expect(lines.length).toBe(rows.length + 2)
  expect(lines.slice(0, 2)).toEqual(['row     what', '0       x'])
})
