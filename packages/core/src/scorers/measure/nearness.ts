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
