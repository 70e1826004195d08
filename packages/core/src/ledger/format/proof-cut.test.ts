import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoryLog } from '../../../test/ledger/memory-tiles.ts'
import { MerkleTree, leafHash, TILE_WIDTH } from './merkle.ts'
import type { Frontier } from './merkle.ts'
import { consistencyProof, frontierAt, inclusionProof, treeRoot } from './proof.ts'
import type { ReadTile } from './proof.ts'

const LEAVES = Array.from({ length: 70_000 }, (_, at) => leafHash(Buffer.from(String(at))))
const log = memoryLog(LEAVES)

/** The log without what pruning removes: the leaves below the cut and the nodes of nothing else. */
const prunedAt =
  (cut: number): ReadTile =>
  async (level, index, width, skip) => {
    const hashes = await log.readTile(level, index, width, skip)
    const first = index * TILE_WIDTH + skip
    const kept = Math.floor(cut / TILE_WIDTH ** level)
    return hashes.filter((_, i) => first + i >= kept)
  }

const frontiers = new Map<number, Frontier>()
const frontierOf = (size: number): Frontier => {
  const known = frontiers.get(size)
  if (known) return known
  const tree = new MerkleTree()
  for (const leaf of LEAVES.slice(0, size)) tree.append(leaf)
  const frontier = tree.frontier()
  frontiers.set(size, frontier)
  return frontier
}

// Around the widths of tiles, where something could be off by one.
const size = fc.oneof(
  fc.integer({ min: 1, max: 2_000 }),
  fc.constantFrom(255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537, 69_999, 70_000),
)

test('from the frontier at a cut, every proof of what is left is made as before', async () => {
  await fc.assert(
    fc.asyncProperty(size, size, size, fc.nat(), async (a, b, c, at) => {
      const [cut = 0, from = 0, to = 0] = [a, b, c].toSorted((x, y) => x - y)
      const tiles = prunedAt(cut)
      const frontier = frontierOf(cut)

      expect(await frontierAt(tiles, to, frontier)).toEqual(await frontierAt(log.readTile, to))
      expect(await treeRoot(tiles, from, frontier)).toBe(await treeRoot(log.readTile, from))
      expect(await consistencyProof(tiles, from, to, frontier)).toEqual(
        await consistencyProof(log.readTile, from, to),
      )
      if (cut === to) return
      const index = cut + (at % (to - cut))
      expect(await inclusionProof(tiles, index, to, frontier)).toEqual(
        await inclusionProof(log.readTile, index, to),
      )
    }),
    { numRuns: 200, seed: 5 },
  )
})

test('what needs leaves below the cut is refused, and nothing wrong is made', async () => {
  const [tiles, frontier] = [prunedAt(300), frontierOf(300)]

  await expect(treeRoot(tiles, 299, frontier)).rejects.toThrow(/below 300 were pruned/)
  await expect(inclusionProof(tiles, 10, 700, frontier)).rejects.toThrow(RangeError)
  await expect(consistencyProof(tiles, 290, 700, frontier)).rejects.toThrow(RangeError)
  expect(await consistencyProof(tiles, 0, 700, frontier)).toEqual([])
})
