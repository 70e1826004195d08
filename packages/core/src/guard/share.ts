/**
 * Rounds a share for a response: to four decimals, and above 0.99 to three significant digits of its
 * distance from 1, at least 1e-15. Monotone; never 1.
 */
export function roundShare(exact: number): number {
  const rest = 1 - exact
  if (rest >= 0.01) return Math.round(exact * 1e4) / 1e4
  return 1 - Math.max(1e-15, Number(rest.toPrecision(3)))
}
