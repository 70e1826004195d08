// Winkler's bonus for a common prefix applies only to texts that are already similar.
const BONUS_FROM = 0.7
const LONGEST_PREFIX = 4

/**
 * Returns the similarity of two sequences by common characters near each other, and by a common
 * prefix.
 */
export function jaroWinkler(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  prefixWeight: number,
): number {
  const jaro = jaroOf(a, b)
  if (jaro <= BONUS_FROM) return jaro
  return jaro + commonPrefix(a, b) * prefixWeight * (1 - jaro)
}

function commonPrefix(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const most = Math.min(LONGEST_PREFIX, a.length, b.length)
  let length = 0
  while (length < most && a[length] === b[length]) length++
  return length
}

function jaroOf(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length === 0 && b.length === 0) return 1
  const reach = Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1)
  const matchedA = new Uint8Array(a.length)
  const matchedB = new Uint8Array(b.length)
  let matches = 0
  for (let at = 0; at < a.length; at++) {
    const to = Math.min(b.length, at + reach + 1)
    for (let other = Math.max(0, at - reach); other < to; other++) {
      if (matchedB[other] || a[at] !== b[other]) continue
      matchedA[at] = 1
      matchedB[other] = 1
      matches++
      break
    }
  }
  if (matches === 0) return 0
  const swapped = Math.floor(outOfOrder(a, matchedA, b, matchedB) / 2)
  return (matches / a.length + matches / b.length + (matches - swapped) / matches) / 3
}

/** Returns the number of matched characters in a different order than on the other side. */
function outOfOrder(
  a: ArrayLike<number>,
  matchedA: Uint8Array,
  b: ArrayLike<number>,
  matchedB: Uint8Array,
): number {
  let count = 0
  let other = 0
  for (let at = 0; at < a.length; at++) {
    if (!matchedA[at]) continue
    while (!matchedB[other]) other++
    if (a[at] !== b[other]) count++
    other++
  }
  return count
}
