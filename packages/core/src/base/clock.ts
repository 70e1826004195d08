/** The time, as an argument: milliseconds since the epoch. */
export interface Clock {
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Formats a time as RFC 3339 in UTC with milliseconds, as in the ledger and in the API. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()

/** CPU time of this thread in milliseconds, so that a busy machine does not cause denials. */
export const computedMs = (): number => msOf(process.threadCpuUsage())

export const msOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000
