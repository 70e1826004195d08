import { MerkleTree } from '../../src/ledger/format/merkle.ts'
import type { ReadTile } from '../../src/ledger/format/proof.ts'

/** A whole log in memory, and which tiles were read from it. */
export interface MemoryLog {
  readonly tree: MerkleTree
  readonly levels: string[][]
  readonly reads: string[]
  readonly readTile: ReadTile
}

/** A log over the given leaf hashes, its tiles filled only by what the tree reports. */
export function memoryLog(leaves: Iterable<string>): MemoryLog {
  const levels: string[][] = [[]]
  const reads: string[] = []
  const tree = new MerkleTree(undefined, (level, hash) => (levels[level] ??= []).push(hash))
  for (const leaf of leaves) {
    levels[0]?.push(leaf)
    tree.append(leaf)
  }
  const readTile: ReadTile = (level, index, width, skip) => {
    reads.push(`${level}/${index}/${width}`)
    return Promise.resolve((levels[level] ?? []).slice(index * 256 + skip, index * 256 + width))
  }
  return { tree, levels, reads, readTile }
}
