import { EMPTY_FRONTIER, nodeHash, rootOf } from './merkle.ts'
import type { Frontier } from './merkle.ts'
import { isSize, TILE_WIDTH } from './tiles.ts'

/**
 * Reads the first `width` hashes of one tile without the first `skip`. Level 0 holds leaf hashes;
 * entry i of level n is the root of tile i of level n - 1, which is then full (C2SP tlog-tiles).
 */
export type ReadTile = (
  level: number,
  index: number,
  width: number,
  skip: number,
) => Promise<readonly string[]>

/** The leaves `from` up to, not including, `to`, aligned as RFC 6962 splits a tree. */
interface Range {
  readonly from: number
  readonly to: number
}

/**
 * The audit path of leaf `index` in the tree of the first `size` leaves (RFC 6962 section 2.1.1),
 * leaf's sibling first. Reads each tile it needs once, all at the same time. `cut` is the frontier of
 * leaves that are there no more: all that proofs of later ones need of them. Throws a RangeError
 * for an index outside the tree, a tile that is shorter than asked for, and what the cut took.
 */
export async function inclusionProof(
  readTile: ReadTile,
  index: number,
  size: number,
  cut: Frontier = EMPTY_FRONTIER,
): Promise<string[]> {
  if (!isSize(size) || !isSize(index) || index >= size) {
    throw new RangeError(`There is no leaf ${index} in a tree of ${size}`)
  }
  const siblings: Range[] = []
  let range: Range = { from: 0, to: size }
  while (range.to - range.from > 1) {
    const middle = range.from + splitOf(range.to - range.from)
    const left = { from: range.from, to: middle }
    const right = { from: middle, to: range.to }
    siblings.push(index < middle ? right : left)
    range = index < middle ? left : right
  }
  return hashRanges(subtreeHasher(readTile, size, cut), siblings.toReversed())
}

/**
 * Proof that the tree of the first `from` leaves is a beginning of the tree of the first `to`
 * (RFC 6962 section 2.1.2). Empty for `from` 0 or equal sizes. Throws like `inclusionProof`.
 */
export async function consistencyProof(
  readTile: ReadTile,
  from: number,
  to: number,
  cut: Frontier = EMPTY_FRONTIER,
): Promise<string[]> {
  if (!isSize(to) || !isSize(from) || from > to) {
    throw new RangeError(`A tree of ${from} is not a beginning of a tree of ${to}`)
  }
  if (from === 0 || from === to) return []
  const parts: Range[] = []
  let range: Range = { from: 0, to }
  while (range.to !== from) {
    const middle = range.from + splitOf(range.to - range.from)
    const left = { from: range.from, to: middle }
    const right = { from: middle, to: range.to }
    parts.push(from <= middle ? right : left)
    range = from <= middle ? left : right
  }
  // The old root itself is known to whoever asks; only a part of it must be named.
  if (range.from > 0) parts.push(range)
  return hashRanges(subtreeHasher(readTile, to, cut), parts.toReversed())
}

/**
 * The frontier of the tree of the first `size` leaves, e.g. for an export that starts there.
 * Throws like `inclusionProof`.
 */
export async function frontierAt(
  readTile: ReadTile,
  size: number,
  cut: Frontier = EMPTY_FRONTIER,
): Promise<Frontier> {
  if (!isSize(size)) throw new RangeError(`There is no tree of ${size} leaves`)
  const hashOf = subtreeHasher(readTile, size, cut)
  return { size, nodes: await Promise.all(subtreesOf({ from: 0, to: size }).map(hashOf)) }
}

/** The root of the tree of the first `size` leaves. Throws like `inclusionProof`. */
export async function treeRoot(readTile: ReadTile, size: number, cut?: Frontier): Promise<string> {
  return rootOf((await frontierAt(readTile, size, cut)).nodes)
}

function hashRanges(hashOf: SubtreeHasher, ranges: readonly Range[]): Promise<string[]> {
  return Promise.all(
    ranges.map(async (range) => rootOf(await Promise.all(subtreesOf(range).map(hashOf)))),
  )
}

interface Subtree {
  readonly height: number
  readonly index: number
}

/** The complete subtrees a range consists of, left to right: falling sizes, like a frontier. */
function subtreesOf(range: Range): Subtree[] {
  const subtrees: Subtree[] = []
  let from = range.from
  while (from < range.to) {
    let height = 0
    while (2 ** (height + 1) <= range.to - from) height++
    subtrees.push({ height, index: from / 2 ** height })
    from += 2 ** height
  }
  return subtrees
}

type SubtreeHasher = (subtree: Subtree) => Promise<string>

/** Hashes complete subtrees of a tree of `size` leaves, reading each tile at most once. */
function subtreeHasher(readTile: ReadTile, size: number, cut: Frontier): SubtreeHasher {
  const cutNodes = new Map(
    subtreesOf({ from: 0, to: cut.size }).map(
      ({ height, index }, i) => [`${height}/${index}`, cut.nodes[i]] as const,
    ),
  )
  const tiles = new Map<string, Promise<readonly string[]>>()
  const tileOf = (level: number, index: number): Promise<readonly string[]> => {
    const name = `${level}/${index}`
    const known = tiles.get(name)
    if (known) return known
    const inLevel = Math.floor(size / TILE_WIDTH ** level)
    const first = index * TILE_WIDTH
    const width = Math.min(TILE_WIDTH, inLevel - first)
    const gone = Math.ceil(cut.size / TILE_WIDTH ** level) - first
    const skip = Math.max(0, Math.min(width, gone))
    const tile = readTile(level, index, width, skip).then((hashes) => {
      if (hashes.length === width - skip) return [...Array<string>(skip).fill(''), ...hashes]
      throw new RangeError(`Tile ${name} has ${hashes.length} hashes instead of ${width - skip}`)
    })
    tiles.set(name, tile)
    return tile
  }

  const hashOf: SubtreeHasher = async ({ height, index }) => {
    const width = 2 ** (height % 8)
    const first = index * width
    if (index * 2 ** height >= cut.size) {
      const tile = await tileOf(Math.floor(height / 8), Math.floor(first / TILE_WIDTH))
      return foldPairs(tile.slice(first % TILE_WIDTH, (first % TILE_WIDTH) + width))
    }
    const known = cutNodes.get(`${height}/${index}`)
    if (known !== undefined) return known
    if ((index + 1) * 2 ** height <= cut.size) {
      throw new RangeError(`The leaves below ${cut.size} are there no more`)
    }
    // The cut goes through it.
    const halves = [2 * index, 2 * index + 1].map((half) => ({ height: height - 1, index: half }))
    const [left = '', right = ''] = await Promise.all(halves.map(hashOf))
    return nodeHash(left, right)
  }
  return hashOf
}

/** The root over a power of two of hashes. */
function foldPairs(hashes: readonly string[]): string {
  let row = hashes
  while (row.length > 1) {
    const parents: string[] = []
    for (let at = 0; at + 1 < row.length; at += 2) {
      parents.push(nodeHash(row[at] ?? '', row[at + 1] ?? ''))
    }
    row = parents
  }
  return row[0] ?? ''
}

/** The largest power of two below `width`: where RFC 6962 splits a tree of that many leaves. */
function splitOf(width: number): number {
  let split = 1
  while (split * 2 < width) split *= 2
  return split
}
