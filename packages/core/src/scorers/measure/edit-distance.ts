import { distance } from 'fastest-levenshtein'

/** The difference of two texts: `distance` insertions, deletions and replacements of characters. */
export interface Edits {
  readonly distance: number
  /** Code points of the longer text. */
  readonly length: number
}

/** Returns the Levenshtein distance of two texts in code points: 🙂 is one character, not two. */
export function editsOf(a: string, b: string): Edits {
  if (a === b) return { distance: 0, length: countCodePoints(a) }
  if (!hasSurrogates(a) && !hasSurrogates(b))
    return { distance: distance(a, b), length: Math.max(a.length, b.length) }
  return {
    distance: sequenceDistance(codePointsOf(a), codePointsOf(b)),
    length: Math.max(countCodePoints(a), countCodePoints(b)),
  }
}

/** 1 for equal texts, 0 for texts without a common position; 1 for two empty texts. */
export const similarity = ({ distance: edits, length }: Edits): number =>
  length === 0 ? 1 : 1 - edits / length

// 0 stands for items that are missing in the first sequence, which equal none of its own.
const ABSENT = 0
const MOST_DISTINCT = 0xffff

/**
 * Returns the Levenshtein distance of two sequences of numbers. The library compares UTF-16 units,
 * so each distinct number gets one; throws for more than 65,535 of them.
 */
export function sequenceDistance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const units = new Map<number, number>()
  for (let at = 0; at < a.length; at++) {
    const item = a[at] ?? 0
    if (!units.has(item)) units.set(item, units.size + 1)
  }
  if (units.size > MOST_DISTINCT) throw new RangeError('too many distinct items')
  return distance(textOf(a, units), textOf(b, units))
}

const CHUNK = 8_192

function textOf(items: ArrayLike<number>, units: ReadonlyMap<number, number>): string {
  let text = ''
  for (let from = 0; from < items.length; from += CHUNK) {
    const part = new Uint16Array(Math.min(CHUNK, items.length - from))
    for (let at = 0; at < part.length; at++) part[at] = units.get(items[from + at] ?? 0) ?? ABSENT
    text += String.fromCharCode(...part)
  }
  return text
}

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

const SURROGATE = /[\ud800-\udfff]/

/** Returns true if the text has characters of two UTF-16 units. */
const hasSurrogates = (text: string): boolean => SURROGATE.test(text)

/** Counts code points, not UTF-16 units. */
export function countCodePoints(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length - 1; at++) {
    if (isPair(text, at)) {
      count--
      at++
    }
  }
  return count
}

export function codePointsOf(text: string): Int32Array {
  const points = new Int32Array(text.length)
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) ?? 0
    points[length++] = point
    if (point > 0xffff) at++
  }
  return points.subarray(0, length)
}

const isPair = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00

const LARGE = 2 ** 1000

/**
 * 1 - |a - b| / (|a| + |b|), 1 for two zeros. The largest numbers are scaled to avoid an overflow.
 */
export function relativeNearness(a: number, b: number): number {
  const scale = Math.max(Math.abs(a), Math.abs(b))
  if (scale === 0) return 1
  if (scale < LARGE) return 1 - Math.abs(a - b) / (Math.abs(a) + Math.abs(b))
  const [x, y] = [a / scale, b / scale]
  return 1 - Math.abs(x - y) / (Math.abs(x) + Math.abs(y))
}

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
