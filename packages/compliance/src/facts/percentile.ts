/**
 * The smallest of the values that at least so many percent of them do not exceed (nearest rank), so it
 * is always one of them; null over nothing. `sorted`: ascending.
 */
export function percentile(sorted: readonly number[], percent: number): number | null {
  const rank = Math.ceil((percent * sorted.length) / 100)
  return sorted[Math.max(1, rank) - 1] ?? null
}
