import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '@remit/testing/pure'
import { assign, mostPairs } from '../../src/scorers/measure/matching.ts'
import { sequenceDistance, longestCommon } from '../../src/scorers/measure/edit-distance.ts'

const sequence = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 80 })

/** The table that both classic methods fill; `step` says what a cell is made of. */
function table(
  a: readonly number[],
  b: readonly number[],
  edge: (at: number) => number,
  step: (equal: boolean, left: number, above: number, before: number) => number,
): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => edge(at))
  for (const [at, item] of a.entries()) {
    const next = [edge(at + 1)]
    for (const [other, value] of b.entries())
      next.push(step(item === value, next[other]!, row[other + 1]!, row[other]!))
    row = next
  }
  return row.at(-1)!
}

const commonByTable = (a: readonly number[], b: readonly number[]) =>
  table(
    a,
    b,
    () => 0,
    (equal, left, above, before) => (equal ? before + 1 : Math.max(left, above)),
  )

const editsByTable = (a: readonly number[], b: readonly number[]) =>
  table(
    a,
    b,
    (at) => at,
    (equal, left, above, before) => Math.min(left + 1, above + 1, before + (equal ? 0 : 1)),
  )

describe('sequences', () => {
  it('have the longest common sequence that the classic table finds', () => {
    fc.assert(
      fc.property(sequence, sequence, (a, b) => {
        expect(longestCommon(a, b, 6)).toBe(commonByTable(a, b))
      }),
      { numRuns: runs(300) },
    )
  })

  it('have the edit distance that the classic table finds, also of very large numbers', () => {
    fc.assert(
      fc.property(sequence, sequence, (a, b) => {
        const large = (items: readonly number[]) => items.map((item) => item * 1_000_003 - 1)
        expect(sequenceDistance(large(a), large(b))).toBe(editsByTable(a, b))
      }),
      { numRuns: runs(300) },
    )
  })
})

/** Every way to choose for each row a column of its own, or none. */
function* choices(rows: number, columns: number, taken: number[] = []): Generator<number[]> {
  if (taken.length === rows) {
    yield taken
    return
  }
  yield* choices(rows, columns, [...taken, -1])
  for (let column = 0; column < columns; column++)
    if (!taken.includes(column)) yield* choices(rows, columns, [...taken, column])
}

const grid = fc
  .tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 }))
  .chain(([rows, columns]) =>
    fc.tuple(
      fc.constant(rows),
      fc.constant(columns),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
        minLength: rows * columns,
        maxLength: rows * columns,
      }),
    ),
  )

describe('pairs', () => {
  it('are worth as much as the best of all ways to pair', () => {
    fc.assert(
      fc.property(grid, ([rows, columns, worth]) => {
        const sum = (chosen: readonly number[]) =>
          chosen.reduce(
            (all, column, row) => all + (column < 0 ? 0 : worth[row * columns + column]!),
            0,
          )
        const chosen = [...assign(Float64Array.from(worth), rows, columns)]
        const best = Math.max(...[...choices(rows, columns)].map(sum))

        expect(sum(chosen)).toBeCloseTo(best, 9)
        const columnsTaken = chosen.filter((column) => column >= 0)
        expect(new Set(columnsTaken).size).toBe(Math.min(rows, columns))
      }),
      { numRuns: runs(300) },
    )
  })

  it('are as many as can be made', () => {
    fc.assert(
      fc.property(grid, ([rows, columns, worth]) => {
        const fits = (row: number, column: number) => worth[row * columns + column]! > 0.5
        const count = (chosen: readonly number[]) =>
          chosen.filter((column, row) => column >= 0 && fits(row, column)).length

        expect(mostPairs(rows, columns, fits)).toBe(
          Math.max(...[...choices(rows, columns)].map(count)),
        )
      }),
      { numRuns: runs(300) },
    )
  })

  it('are found along chains of moves longer than the call stack', () => {
    const size = 3_000
    // Everyone fits his own place and the next; the last fits the first only.
    const fits = (left: number, right: number) =>
      left === size - 1 ? right === 0 : right === left || right === left + 1

    expect(mostPairs(size, size, fits)).toBe(size)
  })
})
