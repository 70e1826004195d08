import type { BudgetInput, BudgetWindow } from '@remit/contract'
import { isoTime } from '@remit/core/base'
import { LRUCache } from 'lru-cache'

/** The time in which a budget counts at some moment. Times are milliseconds since the epoch. */
export interface BudgetTime {
  /**
   * The counters that add up, oldest first: one for a calendar window, the hours or days of a rolling one.
   * `leaves` is the time from which a part counts no more, null for never.
   */
  readonly parts: readonly { readonly id: string; readonly leaves: number | null }[]
  /** The part in which new amounts count. */
  readonly id: string
  /** Its start; null for the window `total`. */
  readonly from: number | null
  /** When the first part counts no more, RFC 3339; null for never. */
  readonly resetsAt: string | null
}

/** A window of the calendar, which begins and ends. */
export interface CalendarTime extends BudgetTime {
  readonly from: number
  readonly resetsAt: string
}

interface Known extends BudgetTime {
  readonly to: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Rolling windows count whole hours or days, the oldest included: no interval exceeds the limit. */
const ROLLING = {
  rolling_24h: { step: HOUR, count: 25, letters: 13 },
  rolling_30d: { step: DAY, count: 31, letters: 10 },
} as const

/** More than the longest window: the last instant of one is sought in this span. */
const SPAN = { hour: 2 * HOUR, day: 3 * DAY, week: 10 * DAY, month: 34 * DAY } as const

const ALWAYS: Known = {
  parts: [{ id: 'all', leaves: null }],
  id: 'all',
  from: null,
  resetsAt: null,
  to: Infinity,
}

const known = new LRUCache<string, Known>({ max: 500 })

/** Returns the time of a window; computed once until the window or its part ends. */
export function timeOf(
  of: { readonly window: keyof typeof SPAN; readonly time_zone: string },
  now: number,
): CalendarTime
export function timeOf(of: Pick<BudgetInput, 'window' | 'time_zone'>, now: number): BudgetTime
export function timeOf(
  { window, time_zone: zone }: Pick<BudgetInput, 'window' | 'time_zone'>,
  now: number,
): BudgetTime {
  if (window === 'total') return ALWAYS
  const key = `${window} ${zone}`
  const last = known.get(key)
  if (last && (last.from ?? 0) <= now && now < last.to) return last
  const time =
    window === 'rolling_24h' || window === 'rolling_30d'
      ? rollingAt(window, now)
      : calendarAt(window, zone, now)
  known.set(key, time)
  return time
}

function rollingAt(window: keyof typeof ROLLING, now: number): Known {
  const { step, count, letters } = ROLLING[window]
  const from = Math.floor(now / step) * step
  const parts = Array.from({ length: count }, (_, i) => {
    const begin = from - (count - 1 - i) * step
    return { id: new Date(begin).toISOString().slice(0, letters), leaves: begin + count * step }
  })
  const id = parts.at(-1)?.id ?? ''
  return { parts, id, from, resetsAt: isoTime(from + step), to: from + step }
}

function calendarAt(window: keyof typeof SPAN, zone: string, now: number): Known {
  const id = nameOf(window, zone, now)
  const isIn = (minute: number) => nameOf(window, zone, minute * MINUTE) === id
  const at = Math.floor(now / MINUTE)
  const span = SPAN[window] / MINUTE
  const from = edge(at - span, at, isIn) * MINUTE
  const to = edge(at + span, at, isIn, 1) * MINUTE
  return { parts: [{ id, leaves: to }], id, from, resetsAt: isoTime(to), to }
}

/** The minute next to `outside` at which a window begins, or with `beyond` 1 the first after its end. */
function edge(outside: number, inside: number, isIn: (at: number) => boolean, beyond = 0): number {
  while (Math.abs(outside - inside) > 1) {
    const middle = Math.floor((outside + inside) / 2)
    if (isIn(middle)) inside = middle
    else outside = middle
  }
  return inside + beyond
}

/** The name of the window of a time: `2026-11-26T13`, `2026-11-26`, `2026-W48`, `2026-11`. */
function nameOf(window: Exclude<BudgetWindow, 'total'>, zone: string, at: number): string {
  if (window === 'hour') return new Date(at).toISOString().slice(0, 13)
  const date = dateIn(zone, at)
  if (window === 'month') return date.slice(0, 7)
  return window === 'week' ? weekOf(date) : date
}

/** The ISO week of a date: that of its Thursday. */
function weekOf(date: string): string {
  const day = new Date(`${date}T00:00:00Z`)
  day.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7))
  const year = day.getUTCFullYear()
  const week = Math.ceil(((day.getTime() - Date.UTC(year, 0, 1)) / DAY + 1) / 7)
  return `${year}-W${String(week).padStart(2, '0')}`
}

const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 500 })

/** The date that calendars of a zone show, `2026-11-26`. */
function dateIn(zone: string, at: number): string {
  if (zone === 'UTC') return new Date(at).toISOString().slice(0, 10)
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    })
    formats.set(zone, format)
  }
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]))
  return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`
}
