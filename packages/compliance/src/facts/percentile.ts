/**
 * The smallest value that at least `percent` % of the values do not exceed (nearest rank), so it is
 * always one of them; null without values. `sorted`: ascending.
 */
export function percentile(sorted: readonly number[], percent: number): number | null {
  const rank = Math.ceil((percent * sorted.length) / 100)
  return sorted[Math.max(1, rank) - 1] ?? null
}
