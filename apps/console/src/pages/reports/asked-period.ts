const DAY_MS = 86_400_000
const DEFAULT_DAYS = 90

interface Typed {
  /** Dates as the form gives them; empty for none. */
  readonly from: string
  readonly to: string
}

/**
 * The period of a report, as the API takes it. Without an end, or with the end today, it ends now: a whole
 * day that is not over would be refused. Without a start, it begins with the ledger, at most 90 days before the
 * end. `start`: the time of the first entry, where it is known. Pure.
 */
export function askedPeriod({ from, to }: Typed, start: string | undefined, now: number) {
  const isNow = to === '' || to === isoTime(now).slice(0, 10)
  const end = isNow ? isoTime(now) : to
  if (from !== '') return { from, to: end }
  const first = isoTime(Date.parse(end) - DEFAULT_DAYS * DAY_MS)
  return { from: start !== undefined && start > first ? start : first, to: end }
}

const isoTime = (ms: number): string => new Date(ms).toISOString()
