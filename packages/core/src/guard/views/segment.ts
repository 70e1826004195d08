import type { Vocabulary } from './vocabulary.ts'

const LONGEST_WORD = 16
/** Cost of a letter outside of words; a word costs 1, and short ones more. */
const STRAY = 2.5
// Of two segmentations, the one with more frequent words is preferred.
const COMMON = new Set(
  'a i an and are as at be but by can do for from get give have he her his how if in is it its me my no not of on one or our out say she so that the their them then they this to up us was we what when who will with you your'.split(
    ' ',
  ),
)
const COMMON_COST = 0.9
const MAX_LENGTH = 200
/** Two or three words in one are a compound or the name of a function, not a disguise. */
const MIN_WORDS = 4

/**
 * Returns joined words with spaces, by the segmentation with the lowest cost; null for too few
 * words.
 */
export function segmented(joined: string, vocabulary: Vocabulary): string | null {
  const { length } = joined
  if (length > MAX_LENGTH) return null
  const cost = new Float64Array(length + 1).fill(Infinity)
  const from = new Int32Array(length + 1)
  cost[0] = 0
  for (let end = 1; end <= length; end++) {
    cost[end] = (cost[end - 1] ?? 0) + STRAY
    from[end] = end - 1
    for (let start = Math.max(0, end - LONGEST_WORD); start < end; start++) {
      const least = (cost[start] ?? 0) + COMMON_COST
      if (least >= (cost[end] ?? 0)) continue
      const word = joined.slice(start, end)
      const price = COMMON.has(word) ? least : (cost[start] ?? 0) + 1 + 2 / word.length
      if (price < (cost[end] ?? 0) && vocabulary.has(word)) {
        cost[end] = price
        from[end] = start
      }
    }
  }
  if ((cost[length] ?? Infinity) > length * 0.45) return null
  const words: string[] = []
  for (let end = length; end > 0; end = from[end] ?? 0) words.push(joined.slice(from[end], end))
  return words.length < MIN_WORDS ? null : words.toReversed().join(' ')
}
