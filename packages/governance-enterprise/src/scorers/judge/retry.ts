const BASE_MS = 500
const CAP_MS = 8_000
const MOST_ASKED_MS = 30_000

/** Returns whether the same request may succeed after a status. */
export const isPassing = (status: number): boolean =>
  status === 408 || status === 409 || status === 429 || status >= 500

/**
 * Milliseconds to wait before retry number `retry` (from 0); null to give up: the server requests
 * more than 30 s, or the wait exceeds the deadline. Without a requested delay, a random part of an
 * exponential backoff; `random` is in [0, 1).
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
