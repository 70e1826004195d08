/** 32-bit hashes (FNV-1a with the finalizer of MurmurHash3) of words and combinations. */

export const BASIS = 0x811c9dc5 | 0
const PRIME = 0x01000193

/** Adds one UTF-16 unit to a running hash. */
export const step = (hash: number, unit: number): number => Math.imul(hash ^ unit, PRIME)

/** Returns the running hash of a whole word. */
export function hashOf(text: string): number {
  let hash = BASIS
  for (let at = 0; at < text.length; at++) hash = step(hash, text.charCodeAt(at))
  return hash
}

/** Spreads a running hash over all bits. */
export function finalMix(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** Combines two hashes; the order matters. */
export const combine = (first: number, second: number): number =>
  Math.imul(Math.imul(first, 0x9e3779b1) ^ second, 0x7feb352d) ^ (first >>> 15)
