import { isHash } from './entry.ts'
import { emptyRoot, nodeHash } from './merkle.ts'
import { isSize } from './tiles.ts'

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
