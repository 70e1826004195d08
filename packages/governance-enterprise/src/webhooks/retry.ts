const FIRST_MS = 5_000
const LONGEST_MS = 3 * 60 * 60 * 1000
const GIVE_UP_MS = 24 * 60 * 60 * 1000

/**
 * When to try again after `attempts` failures, or null to give up: 5 s, 15 s, 45 s … up to every
 * 3 hours, give or take a quarter, until 24 hours after the event. `random` is from 0 to 1.
 */
export function retryAt(
  attempts: number,
  createdMs: number,
  nowMs: number,
  random: number,
): number | null {
  const end = createdMs + GIVE_UP_MS
  if (nowMs >= end) return null
  const wait = Math.min(LONGEST_MS, FIRST_MS * 3 ** (attempts - 1))
  return Math.min(end, nowMs + Math.round(wait * (0.75 + random / 2)))
}
