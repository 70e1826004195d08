const FIRST_MS = 5_000
const LONGEST_MS = 3 * 60 * 60 * 1000
const GIVE_UP_MS = 24 * 60 * 60 * 1000

/**
 * The time of the next attempt after `attempts` failures; null to give up: 5 s, 15 s, 45 s … up to
 * 3 hours, ± 25 %, until 24 hours after the event. `random` is in [0, 1).
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
