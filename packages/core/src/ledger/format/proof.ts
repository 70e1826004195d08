import { EMPTY_FRONTIER, nodeHash, rootOf, emptyRoot, isSize, TILE_WIDTH } from './merkle.ts'
import type { Frontier } from './merkle.ts'
import { isHash } from './entry.ts'

/**
 * Reads the first `width` hashes of one tile without the first `skip`. Level 0 has leaf hashes;
 * entry i of level n is the root of tile i of level n - 1, which is then full (C2SP tlog-tiles).
 */
export type ReadTile = (
  level: number,
  index: number,
  width: number,
  skip: number,
) => Promise<readonly string[]>

/** The leaves from `from` up to `to` (exclusive), aligned as RFC 6962 splits a tree. */
interface Range {
  readonly from: number
  readonly to: number
}

/**
 * Returns the audit path of leaf `index` in the tree of the first `size` leaves (RFC 6962 section
 * 2.1.1), the sibling of the leaf first. Reads each tile once, all concurrently. `cut` is the
 * frontier of pruned leaves, which suffices for proofs of later ones. Throws a RangeError for an
 * index outside the tree, a tile that is too short, and pruned leaves.
 */
export async function inclusionProof(
  readTile: ReadTile,
  index: number,
  size: number,
  cut: Frontier = EMPTY_FRONTIER,
): Promise<string[]> {
  if (!isSize(size) || !isSize(index) || index >= size) {
    throw new RangeError(`A tree of size ${size} has no leaf ${index}`)
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
 * Returns the proof that the tree of the first `from` leaves is a prefix of the tree of the first
 * `to` (RFC 6962 section 2.1.2). Empty for `from` 0 or equal sizes. Throws like `inclusionProof`.
 */
export async function consistencyProof(
  readTile: ReadTile,
  from: number,
  to: number,
  cut: Frontier = EMPTY_FRONTIER,
): Promise<string[]> {
  if (!isSize(to) || !isSize(from) || from > to) {
    throw new RangeError(`A tree of size ${from} is not a prefix of a tree of size ${to}`)
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
  // The verifier knows the old root; only a part of it must be in the proof.
  if (range.from > 0) parts.push(range)
  return hashRanges(subtreeHasher(readTile, to, cut), parts.toReversed())
}

/**
 * Returns the frontier of the tree of the first `size` leaves, e.g. for an export that starts
 * there. Throws like `inclusionProof`.
 */
export async function frontierAt(
  readTile: ReadTile,
  size: number,
  cut: Frontier = EMPTY_FRONTIER,
): Promise<Frontier> {
  if (!isSize(size)) throw new RangeError(`A tree of ${size} leaves does not exist`)
  const hashOf = subtreeHasher(readTile, size, cut)
  return { size, nodes: await Promise.all(subtreesOf({ from: 0, to: size }).map(hashOf)) }
}

/** Returns the root of the tree of the first `size` leaves. Throws like `inclusionProof`. */
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

/**
 * Returns the complete subtrees of a range from left to right, in descending sizes, like a
 * frontier.
 */
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
      throw new RangeError(`The leaves below ${cut.size} were pruned`)
    }
    // The cut is inside of the subtree.
    const halves = [2 * index, 2 * index + 1].map((half) => ({ height: height - 1, index: half }))
    const [left = '', right = ''] = await Promise.all(halves.map(hashOf))
    return nodeHash(left, right)
  }
  return hashOf
}

/** Returns the root over a number of hashes that is a power of two. */
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

/** Returns the largest power of two below `width`: the split position of RFC 6962. */
function splitOf(width: number): number {
  let split = 1
  while (split * 2 < width) split *= 2
  return split
}

export interface InclusionClaim {
  readonly index: number
  readonly size: number
  readonly leafHash: string
  readonly proof: readonly string[]
  readonly root: string
}

/**
 * Returns true if the proof shows the leaf at `index` under `root` (RFC 9162 section 2.1.3.2).
 * False for malformed input; never throws. The caller must compute `leafHash` from the data: an
 * inner node passed as data hashes to another value, but passed as a leaf hash it would be
 * accepted.
 */
export function verifyInclusion({ index, size, leafHash, proof, root }: InclusionClaim): boolean {
  if (!isSize(index) || !isSize(size) || index >= size) return false
  if (!isHash(leafHash) || !isHash(root) || !isHashes(proof)) return false
  let node = leafHash
  let at = index
  let last = size - 1
  for (const sibling of proof) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      node = nodeHash(sibling, node)
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else {
      node = nodeHash(node, sibling)
    }
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 && node === root
}

export interface ConsistencyClaim {
  readonly from: number
  readonly to: number
  readonly fromRoot: string
  readonly toRoot: string
  readonly proof: readonly string[]
}

/**
 * Returns true if the proof shows that the tree `to` extends the tree `from` (RFC 9162 section
 * 2.1.4.2). Size 0 must have the empty root, equal sizes equal roots, and both an empty proof.
 * False for malformed input; never throws.
 */
export function verifyConsistency(claim: ConsistencyClaim): boolean {
  const { from, to, fromRoot, toRoot, proof } = claim
  if (!isSize(from) || !isSize(to) || from > to) return false
  if (!isHash(fromRoot) || !isHash(toRoot) || !isHashes(proof)) return false
  if (from === 0 && fromRoot !== emptyRoot) return false
  if (from === to) return proof.length === 0 && fromRoot === toRoot
  if (from === 0) return proof.length === 0

  let at = from - 1
  let last = to - 1
  while (at % 2 === 1) [at, last] = [(at - 1) / 2, Math.floor(last / 2)]
  // A complete old tree is its own first node, so the proof omits it.
  const path = at === 0 ? [fromRoot, ...proof] : proof
  let oldNode = path[0]
  let newNode = path[0]
  if (oldNode === undefined || newNode === undefined) return false
  for (const sibling of path.slice(1)) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      oldNode = nodeHash(sibling, oldNode)
      newNode = nodeHash(sibling, newNode)
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else {
      newNode = nodeHash(newNode, sibling)
    }
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 && oldNode === fromRoot && newNode === toRoot
}

// 53 levels are the deepest tree that a safe integer can count.
function isHashes(proof: unknown): proof is readonly string[] {
  return Array.isArray(proof) && proof.length <= 64 && proof.every(isHash)
}
