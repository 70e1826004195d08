import { thresholdsOf } from './thresholds.ts'
import type { CheckThresholds } from './thresholds.ts'

/** The subject of the facts: an organization in the half-open period [from, to), milliseconds. */
export interface FactsQuery {
  readonly orgId: string
  readonly from: number
  readonly to: number
  readonly thresholds: CheckThresholds
}

export const reportQueryOf = (
  period: Omit<FactsQuery, 'thresholds'>,
  thresholds: Partial<CheckThresholds> = {},
): FactsQuery => ({ ...period, thresholds: thresholdsOf(thresholds) })

export const SECOND = 1000
export const HOUR = 3600 * SECOND
export const DAY = 24 * HOUR
