/** Lengths of the judged stretches in tokens; each advances by half its length. */
const LENGTHS = [12, 24, 48, 96]
/** Texts up to this number of tokens are also judged as a whole. */
const MAX_WHOLE = 256
const MIN_PARTED = 14
/** Reserve for short stretches: a few strong words alone are not enough. */
const RESERVE = 100

/** A stretch of tokens [start, end) and its score. */
export interface Stretch {
  readonly score: number
  readonly start: number
  readonly end: number
}

/**
 * Returns the most suspicious stretch: the sum of its weights over the root of its number of
 * features. `sums[i]` is the sum of the weights of the first `i` tokens, `ends[i]` their features.
 */
export function bestStretch(sums: Float64Array, ends: Uint32Array, count: number): Stretch {
  let best = -Infinity
  let from = 0
  let to = count
  const judge = (start: number, end: number) => {
    const features = (ends[end] ?? 0) - (ends[start] ?? 0)
    const score = ((sums[end] ?? 0) - (sums[start] ?? 0)) / Math.sqrt(features + RESERVE)
    if (score <= best) return
    best = score
    from = start
    to = end
  }
  if (count > MIN_PARTED) {
    for (const length of LENGTHS) {
      if (length >= count) break
      for (let start = 0; ; start += length >> 1) {
        const end = Math.min(count, start + length)
        judge(start, end)
        if (end === count) break
      }
    }
  }
  if (count <= MAX_WHOLE) judge(0, count)
  return { score: best, start: from, end: to }
}

/** Returns the factor of a weight in a stretch with this number of features. */
export const share = (features: number): number => 1 / Math.sqrt(features + RESERVE)
