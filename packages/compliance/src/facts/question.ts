import { thresholdsOf } from './thresholds.ts'
import type { Thresholds } from './thresholds.ts'

/** The subject of the facts: an organization in the half-open period [from, to), milliseconds. */
export interface Question {
  readonly orgId: string
  readonly from: number
  readonly to: number
  readonly thresholds: Thresholds
}

export const questionOf = (
  period: Omit<Question, 'thresholds'>,
  thresholds: Partial<Thresholds> = {},
): Question => ({ ...period, thresholds: thresholdsOf(thresholds) })

export const SECOND = 1000
export const HOUR = 3600 * SECOND
export const DAY = 24 * HOUR
