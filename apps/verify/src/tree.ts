import { hash } from 'node:crypto'

const NODE = Buffer.of(1)

/** Returns the hash of an inner node (RFC 6962 section 2.1): SHA-256 of `01`, left, right. */
const nodeHash = (left: Buffer, right: Buffer): Buffer =>
  hash('sha256', Buffer.concat([NODE, left, right]), 'buffer')

/**
 * The Merkle tree of docs/ledger-format.md section 4 as a frontier: the roots of the complete
 * subtrees from left to right, one for each one-bit of the size.
 */
export class Tree {
  #size: number
  readonly #frontier: Buffer[]

  /** Continues a tree from a frontier: see `readFrontier`. */
  constructor(size = 0, frontier: readonly Buffer[] = []) {
    this.#size = size
    this.#frontier = [...frontier]
  }

  append(leaf: Buffer): void {
    let node = leaf
    // A division, not a shift: shifts truncate numbers to 32 bits.
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      const left = this.#frontier.pop()
      if (left !== undefined) node = nodeHash(left, node)
    }
    this.#frontier.push(node)
    this.#size++
  }

  root(): Buffer {
    return rootOf(this.#frontier)
  }
}

/** Returns the root over the nodes of a frontier; for no leaves, the hash of the empty string. */
export const rootOf = (frontier: readonly Buffer[]): Buffer =>
  frontier.length === 0
    ? hash('sha256', '', 'buffer')
    : frontier.reduceRight((right, left) => nodeHash(left, right))

/** Parses the nodes of a frontier, or returns null unless their number matches the size. */
export function readFrontier(size: number, text: string): Buffer[] | null {
  let nodes = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) nodes += rest % 2
  if (text.length !== 64 * nodes || !/^[0-9a-f]*$/.test(text)) return null
  return Array.from({ length: nodes }, (_, at) =>
    Buffer.from(text.slice(64 * at, 64 * at + 64), 'hex'),
  )
}
