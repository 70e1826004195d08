import { hash } from 'node:crypto'
import { isHash } from './entry.ts'

/** Root of the tree without leaves: SHA-256 of nothing (RFC 6962 section 2.1). */
export const emptyRoot = hash('sha256', '', 'hex')

/**
 * The right edge of a tree: the roots of its largest complete subtrees, from left to right. It has
 * one node per one-bit of `size`, and is all that is needed to append and to know the root.
 */
export interface Frontier {
  readonly size: number
  readonly nodes: readonly string[]
}

/** The frontier of the tree without leaves. */
export const EMPTY_FRONTIER: Frontier = { size: 0, nodes: [] }

/**
 * Told about the root of each complete subtree of 256^level leaves (level >= 1), in the order they
 * close. Entry i of tile level n is the i-th such hash (C2SP tlog-tiles).
 */
export type OnTileNode = (level: number, hash: string) => void

/**
 * A tree that grows at its right edge. Hashes are lower-case hex.
 *
 * Not an object literal with a getter: the engine keeps the getter of each such object, and all that it
 * closes over, until the next full garbage collection. There is a tree for every commit.
 */
export class MerkleTree {
  readonly #nodes: string[]
  readonly #onTileNode: OnTileNode | undefined
  #size: number

  /** Goes on from `frontier`. */
  constructor(frontier: Frontier = EMPTY_FRONTIER, onTileNode?: OnTileNode) {
    this.#nodes = [...frontier.nodes]
    this.#size = frontier.size
    this.#onTileNode = onTileNode
  }

  get size(): number {
    return this.#size
  }

  /** Adds one leaf hash, amortized about one SHA-256. */
  append(leaf: string): void {
    const nodes = this.#nodes
    let node = leaf
    let height = 0
    // As in a binary counter: every one-bit at the low end is a subtree that closes now.
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      node = nodeHash(nodes.pop() ?? '', node)
      height++
      if (height % 8 === 0) this.#onTileNode?.(height / 8, node)
    }
    nodes.push(node)
    this.#size++
  }

  /** The root over all leaves so far. */
  root(): string {
    return rootOf(this.#nodes)
  }

  /** A copy to store; the tree can go on. */
  frontier(): Frontier {
    return { size: this.#size, nodes: [...this.#nodes] }
  }
}

/** The root that subtree roots of falling size, from left to right, have together. */
export function rootOf(nodes: readonly string[]): string {
  let root = nodes.at(-1)
  if (root === undefined) return emptyRoot
  for (let at = nodes.length - 2; at >= 0; at--) root = nodeHash(nodes[at] ?? '', root)
  return root
}

/** The leaf hash of some bytes (RFC 6962 section 2.1). An entry's own hash is already one. */
export function leafHash(data: Uint8Array): string {
  return hash('sha256', Buffer.concat([Buffer.of(0), data]), 'hex')
}

const scratch = Buffer.alloc(65)
scratch[0] = 1

/** The hash of an inner node from its children, all in hex (RFC 6962 section 2.1). */
export function nodeHash(left: string, right: string): string {
  scratch.write(left, 1, 32, 'hex')
  scratch.write(right, 33, 32, 'hex')
  return hash('sha256', scratch, 'hex')
}

/** One text to store: the nodes in hex, one after the other. */
export function encodeFrontier(frontier: Frontier): string {
  return frontier.nodes.join('')
}

/** The inverse of `encodeFrontier`. Throws a RangeError unless text and size belong together. */
export function decodeFrontier(size: number, text: string): Frontier {
  if (!Number.isSafeInteger(size) || size < 0) {
    throw new RangeError(`A tree cannot have ${size} leaves`)
  }
  const nodes = text.match(/.{64}/gsu) ?? []
  if (nodes.length * 64 !== text.length || nodes.length !== oneBits(size) || !nodes.every(isHash)) {
    throw new RangeError(`The stored frontier does not belong to a tree of ${size} leaves`)
  }
  return { size, nodes }
}

function oneBits(size: number): number {
  let bits = 0
  // No bit operators: they would cut the size to 32 bits.
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) bits += rest % 2
  return bits
}
