import { SYSTEM } from '../../caller/caller.ts'
import type { EntryDraft } from '../format/draft.ts'

const KIND = 'quota.threshold'
/** Shares of the monthly limit that are recorded. */
const PERCENTS = [80, 100] as const
/** Letters of a time that name its month. */
const MONTH = 7

interface Count {
  /** The monthly limit; null for none. */
  readonly limit: number | null
  readonly decided: number
}

/**
 * Entries for shares of the monthly limit that are newly reached, by decisions or by a lower limit.
 * The count of a month never falls, so each is recorded once per month and limit.
 */
export function quotaEntries(before: Count, after: Count, recordedAt: string): EntryDraft[] {
  const { limit, decided } = after
  if (limit === null) return []
  return PERCENTS.filter((percent) => reaches(after, percent) && !reaches(before, percent)).map(
    (threshold_percent) => ({
      kind: KIND,
      actor: SYSTEM,
      data: { month: recordedAt.slice(0, MONTH), threshold_percent, limit, decisions: decided },
    }),
  )
}

const reaches = ({ limit, decided }: Count, percent: number): boolean =>
  limit !== null && decided * 100 >= limit * percent
