import { decimal } from './ratio.ts'
import { DAY, HOUR } from './report-query.ts'

/** Milliseconds as hours or days with two decimals. */
export const hoursText = (ms: number): string => decimal(ms, HOUR, 2)
export const daysText = (ms: number): string => decimal(ms, DAY, 2)
