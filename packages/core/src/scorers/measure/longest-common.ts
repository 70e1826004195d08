// 30 bits per word: the sum of two and a carry remains a small integer, which V8 computes fast.
const WORD = 30
const ALL = 2 ** WORD - 1

/**
 * Returns the length of the longest common subsequence of two sequences of small integers below
 * `distinct`. Bit-parallel (Hyyrö 2004): a word has a column of 30 items and advances along the
 * other sequence with the carries of the previous word, so memory is linear.
 */
export function longestCommon(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  distinct: number,
): number {
  const places = new Int32Array(distinct)
  const other = Int32Array.from(b)
  const { length } = other
  const carries = new Uint8Array(length)
  let common = 0
  for (let from = 0; from < a.length; from += WORD) {
    const to = Math.min(from + WORD, a.length)
    for (let at = from; at < to; at++)
      places[a[at] ?? 0] = (places[a[at] ?? 0] ?? 0) | (1 << (at - from))
    let open = ALL
    for (let at = 0; at < length; at++) {
      const matches = places[other[at] as number] as number
      const sum = open + (open & matches) + (carries[at] as number)
      carries[at] = sum >>> WORD
      open = (sum & ALL) | (open & ~matches)
    }
    for (let at = from; at < to; at++) {
      common += (open >>> (at - from)) & 1 ? 0 : 1
      places[a[at] ?? 0] = 0
    }
  }
  return common
}
