const LOWER = 1
const UPPER = 2
const DIGIT = 3

/** Returns the class of an ASCII letter or digit; 0 for other units. */
function classOf(unit: number): number {
  if (unit >= 0x61 && unit <= 0x7a) return LOWER
  if (unit >= 0x41 && unit <= 0x5a) return UPPER
  return unit >= 0x30 && unit <= 0x39 ? DIGIT : 0
}

/** Returns the Shannon entropy of the units of a text, in bits per unit. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const unit of text) counts.set(unit, (counts.get(unit) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values())
    bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/**
 * Returns how often the class of letters and digits changes, from 0 to 1. An initial capital of a
 * word does not count, so that `camelCaseNames` are low; random base62 has 0.44, random hex 0.47.
 */
export function restlessness(text: string): number {
  let changes = 0
  let before = 0
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const kind = classOf(text.charCodeAt(at))
    if (kind === 0) continue
    if (before !== 0 && kind !== before && !(before === UPPER && kind === LOWER)) changes++
    before = kind
    count++
  }
  return count < 2 ? 0 : changes / (count - 1)
}

const MIN_RESTLESSNESS = 0.2
const MIN_ENTROPY = 3
const LONG = 32

/** Returns true if a token is random, in contrast to names, versions and words. */
export const isRandom = (token: string): boolean =>
  (token.length >= LONG || /\d/.test(token)) &&
  restlessness(token) >= MIN_RESTLESSNESS &&
  entropyOf(token) >= MIN_ENTROPY
