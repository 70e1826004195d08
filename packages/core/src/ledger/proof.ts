import { isHash } from './entry.ts'
import { emptyRoot, nodeHash, rootOf } from './merkle.ts'

/**
 * Reads the first `width` hashes of one tile. Level 0 holds leaf hashes; entry i of level n is the
 * root of tile i of level n - 1, which is then full (C2SP tlog-tiles).
 */
export type ReadTile = (level: number, index: number, width: number) => Promise<readonly string[]>

/** The leaves `from` up to, not including, `to`, aligned as RFC 6962 splits a tree. */
interface Range {
  readonly from: number
  readonly to: number
}

/**
 * The audit path of leaf `index` in the tree of the first `size` leaves (RFC 6962 section 2.1.1),
 * leaf's sibling first. Reads each tile it needs once, all at the same time. Throws a RangeError
 * for an index outside the tree and for a tile that is shorter than asked for.
 */
export async function inclusionProof(
  readTile: ReadTile,
  index: number,
  size: number,
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
  return hashRanges(readTile, siblings.toReversed(), size)
}

/**
 * Proof that the tree of the first `from` leaves is a beginning of the tree of the first `to`
 * (RFC 6962 section 2.1.2). Empty for `from` 0 or equal sizes. Throws like `inclusionProof`.
 */
export async function consistencyProof(
  readTile: ReadTile,
  from: number,
  to: number,
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
  return hashRanges(readTile, parts.toReversed(), to)
}

/** One hash per range: from complete subtrees, each out of a single tile. */
async function hashRanges(
  readTile: ReadTile,
  ranges: readonly Range[],
  size: number,
): Promise<string[]> {
  const tiles = new Map<string, Promise<readonly string[]>>()
  const tileOf = (level: number, index: number) => {
    const key = `${level}/${index}`
    const known = tiles.get(key)
    if (known) return known
    const width = Math.min(256, Math.floor(size / 256 ** level) - index * 256)
    const read = readTile(level, index, width).then((hashes) => {
      if (hashes.length === width) return hashes
      throw new RangeError(`Tile ${key} has ${hashes.length} hashes instead of ${width}`)
    })
    tiles.set(key, read)
    return read
  }
  return Promise.all(
    ranges.map(async (range) =>
      rootOf(await Promise.all(subtreesOf(range).map((subtree) => subtreeHash(tileOf, subtree)))),
    ),
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

async function subtreeHash(
  tileOf: (level: number, index: number) => Promise<readonly string[]>,
  { height, index }: Subtree,
): Promise<string> {
  const level = Math.floor(height / 8)
  const width = 2 ** (height % 8)
  const first = index * width
  const tile = await tileOf(level, Math.floor(first / 256))
  let hashes = tile.slice(first % 256, (first % 256) + width)
  while (hashes.length > 1) {
    const parents: string[] = []
    for (let at = 0; at + 1 < hashes.length; at += 2) {
      parents.push(nodeHash(hashes[at] ?? '', hashes[at + 1] ?? ''))
    }
    hashes = parents
  }
  return hashes[0] ?? ''
}

/** The largest power of two below `width`: where RFC 6962 splits a tree of that many leaves. */
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
 * Whether the proof shows the leaf at `index` under `root` (RFC 9162 section 2.1.3.2). False for
 * whatever is malformed; never throws. `leafHash` must be computed by the caller from the data:
 * an inner node offered as data hashes to something else, offered as leaf hash it would pass.
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
 * Whether the proof shows that the tree `from` grew into the tree `to` by appending only
 * (RFC 9162 section 2.1.4.2). Size 0 must have the empty root, equal sizes equal roots, and both
 * an empty proof. False for whatever is malformed; never throws.
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
  // A complete old tree is its own first node, so the proof leaves it out.
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

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

// 53 levels are the deepest tree that a safe integer can count.
function isHashes(proof: unknown): proof is readonly string[] {
  return Array.isArray(proof) && proof.length <= 64 && proof.every(isHash)
}
