import { invalid, isoTime } from '@remit/core/base'

/** Half-open [from, to), milliseconds. */
export interface Period {
  readonly from: number
  readonly to: number
}

const DAY_MS = 24 * 60 * 60 * 1000
const DEFAULT_DAYS = 90

/**
 * The requested period; by default the last 90 whole UTC days. A date means a whole UTC day, also
 * as `to`. Throws `invalid_request` for an empty or unfinished period: a reported period must not
 * receive further entries.
 */
export function periodOf(
  asked: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): Period {
  const to = asked.to === undefined ? midnight(now) : momentOf(asked.to, DAY_MS)
  const from = asked.from === undefined ? to - DEFAULT_DAYS * DAY_MS : momentOf(asked.from, 0)
  if (from < 0) throw invalid('from', 'must not be before 1970')
  if (to > now)
    throw invalid('to', `must not be in the future; the current time is ${isoTime(now)}`)
  if (from >= to)
    throw invalid(
      asked.from === undefined ? 'to' : 'from',
      `must be before the end, ${isoTime(to)}`,
    )
  return { from, to }
}

/** A valid time from the contract; a date as end is extended by `dayEnd`. */
const momentOf = (text: string, dayEnd: number): number =>
  text.includes('T') ? Date.parse(text) : Date.parse(`${text}T00:00:00.000Z`) + dayEnd

const midnight = (ms: number): number => ms - (ms % DAY_MS)
