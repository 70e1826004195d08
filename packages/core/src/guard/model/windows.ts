/** Lengths, in tokens, of the stretches that are judged; each is moved on by half of itself. */
const LENGTHS = [12, 24, 48, 96]
/** A text of up to so many tokens is judged as a whole too. */
const MAX_WHOLE = 256
const MIN_PARTED = 14
/** What a short stretch is short of: a few strong words alone are no proof. */
const RESERVE = 100

/** A stretch of tokens [start, end) and what a head makes of it. */
export interface Stretch {
  readonly score: number
  readonly start: number
  readonly end: number
}

/**
 * The stretch that looks most like an attack: its weights' sum over the root of its number of
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

/** By how much a weight counts in a stretch of so many features. */
export const share = (features: number): number => 1 / Math.sqrt(features + RESERVE)
