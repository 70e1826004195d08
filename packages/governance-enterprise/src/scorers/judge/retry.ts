const BASE_MS = 500
const CAP_MS = 8_000
const MOST_ASKED_MS = 30_000

/** Statuses after which the same request may succeed. */
export const isPassing = (status: number): boolean =>
  status === 408 || status === 409 || status === 429 || status >= 500

/**
 * Milliseconds to wait before retry number `retry` (from 0), or null where it is not worth it: the
 * server asks for more than 30 s, or the wait would pass the deadline. Without a wish of the server,
 * a random share of a pause that doubles; `random` is at least 0 and below 1.
 */
export function pauseBefore(
  retry: number,
  retryAfterMs: number | null,
  leftMs: number,
  random: number,
): number | null {
  if (retryAfterMs !== null && retryAfterMs > MOST_ASKED_MS) return null
  const pause = retryAfterMs ?? Math.min(CAP_MS, BASE_MS * 2 ** retry) * random
  return pause >= leftMs ? null : pause
}
