/** Lengths of the judged stretches in tokens; each advances by half its length. */
const LENGTHS = [12, 24, 48, 96]
/** Texts up to this number of tokens are also judged as a whole. */
const MAX_WHOLE = 256
const MIN_PARTED = 14
/** Reserve for short stretches: a few strong words alone are not enough. */
const RESERVE = 100

/** Tokens beyond the end of a part that its stretches may reach into. */
export const REACH = 48

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
 */
export function bestStretch(
  sums: Float64Array,
  ends: Uint32Array,
  count: number,
  own = count,
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
  if (own <= MAX_WHOLE) judge(0, own)
  return { score: best, start: from, end: to }
}

/** Returns the factor of a weight in a stretch with this number of features. */
export const share = (features: number): number => 1 / Math.sqrt(features + RESERVE)
