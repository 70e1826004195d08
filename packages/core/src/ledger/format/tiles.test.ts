import { expect, test } from 'vitest'
import { describeWithData, readDataJson } from '../../../test/shared-data.ts'
import { tileCounts, tilePath } from './merkle.ts'

describeWithData('tlog')('the published tile names', () => {
  test('every path is written as published', () => {
    const cases = readDataJson('tlog/tile-path.json') as {
      level?: number
      entries?: boolean
      index: string
      width?: number
      path: string
    }[]

    for (const { level, entries, index, width, path } of cases) {
      expect(tilePath(entries ? 'entries' : level!, Number(index), width)).toBe(path)
    }
    expect(cases.length).toBeGreaterThan(5)
  })

  test('a tree has the full and partial tiles that are published', () => {
    const cases = readDataJson('tlog/tile-count.json') as {
      size: number
      levels: { level: number; full_tiles: number; partial_width: number }[]
    }[]

    for (const { size, levels } of cases) {
      const counts = tileCounts(size).map(({ level, fullTiles, partialWidth }) => ({
        level,
        full_tiles: fullTiles,
        partial_width: partialWidth,
      }))
      expect(counts).toEqual(levels)
    }
    expect(cases.length).toBeGreaterThan(3)
  })
})

test('a tree of 2^53 - 1 leaves has seven levels of tiles', () => {
  expect(tileCounts(Number.MAX_SAFE_INTEGER)).toHaveLength(7)
})
