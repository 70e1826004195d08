/** Lengths of the judged stretches in tokens; each advances by half its length. */
const LENGTHS = [12, 24, 48, 96]
/** Texts up to this number of tokens are also judged as a whole. */
const MAX_WHOLE = 256
const MIN_PARTED = 14
/** Sentences of a document, and two in a row, are judged between these lengths. */
const SENTENCES = 2
const MIN_SENTENCE = 3
const MAX_SENTENCE = 96
/** Reserve for short stretches: a few strong words alone are not enough. */
const RESERVE = 100

/** Tokens beyond the end of a part that its stretches may reach into. */
export const REACH = 48

const NO_SENTENCES = new Int32Array()

/** A stretch of tokens [start, end) and what a head makes of it. */
export interface Stretch {
  readonly score: number
  readonly start: number
  readonly end: number
}

/**
 * Returns the most suspicious stretch: the sum of its weights over the root of its number of
 * features. `sums[i]` is the sum of the weights of the first `i` tokens, `ends[i]` their features.
 * A stretch has its middle among the first `own` of the `count` tokens: what follows is another part.
 * `sentences` are the tokens at which lines and sentences begin, of a document: an instruction in it is
 * one of them as a rule, and a stretch that begins elsewhere has words of its surroundings in it.
 */
export function bestStretch(
  sums: Float64Array,
  ends: Uint32Array,
  count: number,
  own = count,
  sentences: Int32Array = NO_SENTENCES,
): Stretch {
  let best = -Infinity
  let from = 0
  let to = own
  const judge = (start: number, end: number) => {
    const features = (ends[end] ?? 0) - (ends[start] ?? 0)
    const score = ((sums[end] ?? 0) - (sums[start] ?? 0)) / Math.sqrt(features + RESERVE)
    if (score <= best) return
    best = score
    from = start
    to = end
  }
  if (own > MIN_PARTED) {
    for (const length of LENGTHS) {
      if (length >= own) break
      for (let start = 0; start + (length >> 1) <= own || start === 0; start += length >> 1) {
        const end = Math.min(count, start + length)
        judge(start, end)
        if (end === count) break
      }
    }
  }
  for (let i = 0; i < sentences.length && (sentences[i] ?? 0) < own; i++) {
    const start = sentences[i] ?? 0
    for (let next = i + 1; next <= i + SENTENCES && next <= sentences.length; next++) {
      const end = sentences[next] ?? count
      if (end - start > MAX_SENTENCE) break
      if (end - start >= MIN_SENTENCE) judge(start, end)
    }
  }
  if (own <= MAX_WHOLE) judge(0, own)
  return { score: best, start: from, end: to }
}

/** Returns the factor of a weight in a stretch with this number of features. */
export const share = (features: number): number => 1 / Math.sqrt(features + RESERVE)
