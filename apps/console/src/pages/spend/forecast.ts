import type { SpendHistory } from '@remit/contract'

export interface Forecast {
  /** Seconds since 1970. */
  readonly times: readonly number[]
  readonly spent: readonly (number | null)[]
  readonly forecast: readonly (number | null)[]
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The end of the UTC day or month of a time. */
function endOf(at: number, isDay: boolean): number {
  const date = new Date(at)
  return isDay
    ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)
    : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/**
 * The points of a window, and a straight line from its start through now to its end: no seasons, no
 * weekdays, labelled as such.
 */
export function forecastOf({ data }: SpendHistory, isDay: boolean, now = Date.now()): Forecast {
  const step = isDay ? HOUR_MS : DAY_MS
  const points = data.map(({ at, spent_usd, held_usd }) => ({
    at: Date.parse(at),
    used: spent_usd + held_usd,
  }))
  const [start, last] = [points[0]?.at ?? now, points.at(-1)]
  const rate = last && now > start ? last.used / (now - start) : 0
  const times: number[] = points.map(({ at }) => at)
  for (let at = (last?.at ?? start) + step; at <= endOf(start, isDay); at += step) times.push(at)
  return {
    times: times.map((at) => at / 1000),
    spent: times.map((_, i) => points[i]?.used ?? null),
    forecast: times.map((at, i) =>
      i + 1 < points.length ? null : Math.max(0, rate * (at - start)),
    ),
  }
}
