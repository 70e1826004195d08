/** The UTC day and month of a time, and their ends. */
export interface Windows {
  /** `2026-11-20`. */
  readonly day: string
  /** `2026-11`. */
  readonly month: string
  readonly dayFrom: string
  readonly dayResets: string
  readonly monthFrom: string
  readonly monthResets: string
}

/** Windows of `nowMs`, milliseconds since the epoch. Times are RFC 3339. */
export function windowsAt(nowMs: number): Windows {
  const now = new Date(nowMs)
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const at = (y: number, m: number, d: number) => new Date(Date.UTC(y, m, d)).toISOString()
  const iso = now.toISOString()
  return {
    day: iso.slice(0, 10),
    month: iso.slice(0, 7),
    dayFrom: at(year, month, day),
    dayResets: at(year, month, day + 1),
    monthFrom: at(year, month, 1),
    monthResets: at(year, month + 1, 1),
  }
}

/** The month of a day id. */
export const monthOf = (day: string): string => day.slice(0, 7)
