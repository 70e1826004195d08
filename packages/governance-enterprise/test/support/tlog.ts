import { createHash, createPublicKey, verify } from 'node:crypto'

/** A checkpoint whose signature held. Hashes are hex. */
export interface Opened {
  readonly origin: string
  readonly size: number
  readonly root: string
}

// The DER prefix of an Ed25519 public key (RFC 8410).
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/** Opens a signed note (C2SP signed-note, tlog-checkpoint) with its verifier key, or throws. */
export function openNote(note: string, vkey: string): Opened {
  const [, name, id, key] = /^(.+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? []
  const end = note.indexOf('\n\n') + 1
  const [, signer, signature] = /^— (\S+) (\S+)$/m.exec(note.slice(end + 1)) ?? []
  const signed = Buffer.from(signature ?? '', 'base64')
  if (signer !== name || signed.subarray(0, 4).toString('hex') !== id) {
    throw new Error('the note is signed by another key')
  }
  const spki = Buffer.concat([SPKI, Buffer.from(key ?? '', 'base64').subarray(1)])
  const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  if (!verify(null, Buffer.from(note.slice(0, end)), publicKey, signed.subarray(4))) {
    throw new Error('the signature does not hold')
  }
  const [origin = '', size, root = ''] = note.split('\n')
  return { origin, size: Number(size), root: Buffer.from(root, 'base64').toString('hex') }
}

const node = (left: string, right: string): string =>
  createHash('sha256').update('\u0001').update(left, 'hex').update(right, 'hex').digest('hex')

/** The Merkle root over leaf hashes (RFC 6962 §2.1). */
export function rootOf(leaves: readonly string[]): string {
  if (leaves.length === 0) return createHash('sha256').digest('hex')
  if (leaves.length === 1) return leaves[0] ?? ''
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return node(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)))
}

/** The root that an inclusion proof leads to (RFC 9162 §2.1.3.2). */
export function rootFromInclusion(
  index: number,
  size: number,
  leaf: string,
  proof: readonly string[],
): string {
  let [fn, sn, root] = [index, size - 1, leaf]
  for (const sibling of proof) {
    if (sn === 0) throw new Error('the proof is too long')
    if (fn % 2 === 1 || fn === sn) {
      root = node(sibling, root)
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)]
    } else root = node(root, sibling)
    ;[fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
  }
  if (sn !== 0) throw new Error('the proof is too short')
  return root
}

/** The parts of a proof file (C2SP tlog-proof); hashes are hex. */
export function readProof(text: string): { index: number; hashes: string[]; note: string } {
  const end = text.indexOf('\n\n')
  const [first, index, ...hashes] = text.slice(0, end).split('\n')
  if (first !== 'c2sp.org/tlog-proof@v1') throw new Error('not a proof file')
  return {
    index: Number(/^index (\d+)$/.exec(index ?? '')?.[1]),
    hashes: hashes.map((hash) => Buffer.from(hash, 'base64').toString('hex')),
    note: text.slice(end + 2),
  }
}

/** Returns whether a consistency proof connects two roots (RFC 9162 §2.1.4.2). */
export function isConsistent(
  from: number,
  to: number,
  fromRoot: string,
  toRoot: string,
  proof: readonly string[],
): boolean {
  if (from === to) return proof.length === 0 && fromRoot === toRoot
  const hashes = Number.isInteger(Math.log2(from)) ? [fromRoot, ...proof] : [...proof]
  let [fn, sn] = [from - 1, to - 1]
  while (fn % 2 === 1) [fn, sn] = [(fn - 1) / 2, Math.floor(sn / 2)]
  let fr = hashes.shift() ?? ''
  let sr = fr
  for (const hash of hashes) {
    if (sn === 0) return false
    if (fn % 2 === 1 || fn === sn) {
      fr = node(hash, fr)
      sr = node(hash, sr)
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)]
    } else sr = node(sr, hash)
    ;[fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
  }
  return fr === fromRoot && sr === toRoot && sn === 0
}
