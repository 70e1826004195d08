/** The median of the ratios of pairs, and the limits of its 95 percent confidence interval. */
export interface PairedRatio {
  readonly median: number
  readonly low: number
  readonly high: number
}

/**
 * Compares two series pair by pair. The limits are order statistics: they assume nothing about the
 * distribution, so a round that something disturbed does not widen them. Less than six pairs have none: the
 * limits are then the least and the greatest ratio.
 */
export function pairedRatio(values: readonly number[], base: readonly number[]): PairedRatio {
  const ratios = values.map((value, i) => value / (base[i] ?? NaN)).toSorted((a, b) => a - b)
  const n = ratios.length
  const at = (rank: number): number => ratios[Math.min(n - 1, Math.max(0, rank))] ?? NaN
  const below = Math.floor((n - 1.96 * Math.sqrt(n)) / 2)
  return {
    median: (at(Math.floor((n - 1) / 2)) + at(Math.ceil((n - 1) / 2))) / 2,
    low: at(below),
    high: at(n - 1 - below),
  }
}
