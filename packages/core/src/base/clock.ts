/** The time, as an argument: milliseconds since the epoch. */
export interface Clock {
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** RFC 3339 in UTC with milliseconds, as everything in the ledger and on the wire. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
