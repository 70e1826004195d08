import { hash } from 'node:crypto'
import { isHash } from './entry.ts'

/** Root of the empty tree: SHA-256 of the empty string (RFC 6962 section 2.1). */
export const emptyRoot = hash('sha256', '', 'hex')

/**
 * The right edge of a tree: the roots of its largest complete subtrees, from left to right, one per
 * one-bit of `size`. Sufficient to append leaves and to compute the root.
 */
export interface Frontier {
  readonly size: number
  readonly nodes: readonly string[]
}

/** The frontier of the empty tree. */
export const EMPTY_FRONTIER: Frontier = { size: 0, nodes: [] }

/**
 * Receives the root of each complete subtree of 256^level leaves (level >= 1), in the order of
 * completion. Entry i of tile level n is the i-th such hash (C2SP tlog-tiles).
 */
export type OnTileNode = (level: number, hash: string) => void

/**
 * A Merkle tree that grows at its right edge. Hashes are lower-case hex.
 *
 * Not an object literal with a getter: the engine keeps the getter of each such object, and
 * everything in its closure, until the next full garbage collection. Every commit creates a tree.
 */
export class MerkleTree {
  readonly #nodes: string[]
  readonly #onTileNode: OnTileNode | undefined
  #size: number

  /** Continues from `frontier`. */
  constructor(frontier: Frontier = EMPTY_FRONTIER, onTileNode?: OnTileNode) {
    this.#nodes = [...frontier.nodes]
    this.#size = frontier.size
    this.#onTileNode = onTileNode
  }

  get size(): number {
    return this.#size
  }

  /** Appends one leaf hash; amortized about one SHA-256. */
  append(leaf: string): void {
    const nodes = this.#nodes
    let node = leaf
    let height = 0
    // As in a binary counter: every one-bit at the low end is a subtree that is now complete.
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      node = nodeHash(nodes.pop() ?? '', node)
      height++
      if (height % 8 === 0) this.#onTileNode?.(height / 8, node)
    }
    nodes.push(node)
    this.#size++
  }

  /** Returns the root over all leaves so far. */
  root(): string {
    return rootOf(this.#nodes)
  }

  /** Returns a copy of the frontier for storage. */
  frontier(): Frontier {
    return { size: this.#size, nodes: [...this.#nodes] }
  }
}

/** Returns the root over subtree roots of descending size, from left to right. */
export function rootOf(nodes: readonly string[]): string {
  let root = nodes.at(-1)
  if (root === undefined) return emptyRoot
  for (let at = nodes.length - 2; at >= 0; at--) root = nodeHash(nodes[at] ?? '', root)
  return root
}

/**
 * Returns the leaf hash of some bytes (RFC 6962 section 2.1). The hash of an entry is already one.
 */
export function leafHash(data: Uint8Array): string {
  return hash('sha256', Buffer.concat([Buffer.of(0), data]), 'hex')
}

const scratch = Buffer.alloc(65)
scratch[0] = 1

/** Returns the hash of an inner node from its children, all in hex (RFC 6962 section 2.1). */
export function nodeHash(left: string, right: string): string {
  scratch.write(left, 1, 32, 'hex')
  scratch.write(right, 33, 32, 'hex')
  return hash('sha256', scratch, 'hex')
}

/** Encodes a frontier as one text: the concatenated nodes in hex. */
export function encodeFrontier(frontier: Frontier): string {
  return frontier.nodes.join('')
}

/** The inverse of `encodeFrontier`. Throws a RangeError unless text and size match. */
export function decodeFrontier(size: number, text: string): Frontier {
  if (!Number.isSafeInteger(size) || size < 0) {
    throw new RangeError(`A tree cannot have ${size} leaves`)
  }
  const nodes = text.match(/.{64}/gsu) ?? []
  const oneBits = size.toString(2).replaceAll('0', '').length
  if (nodes.length * 64 !== text.length || nodes.length !== oneBits || !nodes.every(isHash)) {
    throw new RangeError(`The stored frontier does not belong to a tree of ${size} leaves`)
  }
  return { size, nodes }
}

/** Hashes in a full tile, and leaves under one hash of the next level. */
export const TILE_WIDTH = 256

interface TileCount {
  readonly level: number
  readonly fullTiles: number
  /** Hashes in the last, unfinished tile of the level; 0 if there is none. */
  readonly partialWidth: number
}

/**
 * Returns the tiles of a tree of `size` leaves, level by level (C2SP tlog-tiles, "Merkle Tree").
 */
export function tileCounts(size: number): TileCount[] {
  const counts: TileCount[] = []
  for (let hashes = size; hashes > 0; hashes = Math.floor(hashes / TILE_WIDTH)) {
    counts.push({
      level: counts.length,
      fullTiles: Math.floor(hashes / TILE_WIDTH),
      partialWidth: hashes % TILE_WIDTH,
    })
  }
  return counts
}

/**
 * Returns the path of a tile below the URL prefix of a log. The index is split into groups of three
 * digits, all but the last marked with x, so no folder has more than a thousand names; an
 * unfinished tile adds its width (C2SP tlog-tiles). Level `entries` names the bundle of the entries
 * themselves.
 */
export function tilePath(level: number | 'entries', index: number, width = TILE_WIDTH): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? []
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/')
  return `tile/${level}/${path}${width < TILE_WIDTH ? `.p/${width}` : ''}`
}

/** Returns true for a number of leaves that can be counted exactly: 0 to 2^53 - 1. */
export function isSize(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
