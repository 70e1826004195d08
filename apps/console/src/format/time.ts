const pad = (n: number): string => String(n).padStart(2, '0')

/** `2026-11-22 14:03:07` in UTC, or with milliseconds. */
export const utc = (at: string, isExact = false): string =>
  at.slice(0, isExact ? 23 : 19).replace('T', ' ')

/** `14:03:07` of today in UTC, else with the date. */
export function shortUtc(at: string, now = Date.now()): string {
  const isToday = at.slice(0, 10) === new Date(now).toISOString().slice(0, 10)
  return isToday ? at.slice(11, 19) : `${at.slice(5, 10)} ${at.slice(11, 16)}`
}

/** Both readings of a time, for a tooltip. */
export function bothTimes(at: string): string {
  const date = new Date(at)
  const local = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return `${utc(at, true)} UTC\n${local} ${zone}`
}

const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
]

/** `3 h 12 min`: the two largest units of a duration. */
function duration(ms: number): string {
  const at = UNITS.findIndex(([size]) => Math.abs(ms) >= size)
  const [size, unit] = UNITS[at] ?? [1_000, 's']
  const whole = Math.floor(Math.abs(ms) / size)
  const next = UNITS[at + 1]
  const rest = next && at < 2 ? Math.floor((Math.abs(ms) % size) / next[0]) : 0
  return rest > 0 && next ? `${whole} ${unit} ${rest} ${next[1]}` : `${whole} ${unit}`
}

const HOUR_MS = 3_600_000

/** The distance of an hour of the clock, given by its start: `this hour`, `1 h ago`, `2 d 3 h ago`. */
export function hourAgo(start: string, now: number): string {
  const hours = Math.floor(now / HOUR_MS) - Math.floor(Date.parse(start) / HOUR_MS)
  return hours <= 0 ? 'this hour' : `${duration(hours * HOUR_MS)} ago`
}

/** `3 min ago`, `in 2 h`. */
export function relative(at: string, now: number): string {
  const ms = Date.parse(at) - now
  if (Math.abs(ms) < 1_000) return 'now'
  return ms > 0 ? `in ${duration(ms)}` : `${duration(ms)} ago`
}
