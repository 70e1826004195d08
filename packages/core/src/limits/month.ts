import { fail } from '../base/errors.ts'
import type { Failure } from '../base/errors.ts'
import type { CoreTables, LedgerHeadRow } from '../db/schema.ts'
import { isoTime } from '../base/clock.ts'
import { SYSTEM } from '../caller/caller.ts'
import { on } from '../db/portable.ts'
import type { AnyDatabase } from '../db/portable.ts'
import type { EntryDraft } from '@remit/contract/entries'
import type { OrganizationAtVersion } from './at-version.ts'

const DECISION = 'authorization.decided'
/** Letters of a time that name its month. */
const MONTH = 7

type Counted = Pick<LedgerHeadRow, 'decided' | 'decided_month'>

/** Returns the decisions of an organization in the month of a time. */
export const decidedBefore = (head: Counted, recordedAt: string): number =>
  head.decided_month === recordedAt.slice(0, MONTH) ? head.decided : 0

/** Returns the decisions of an organization in the month of `now`, in milliseconds. */
export async function decisionsOfMonth(
  db: AnyDatabase,
  orgId: string,
  now: number,
): Promise<number> {
  const head = await on<CoreTables>(db)
    .selectFrom('ledger_head')
    .select(['decided', 'decided_month'])
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return head ? decidedBefore(head, isoTime(now)) : 0
}

/** Returns the count after a transaction with these entries. */
export function countOf(
  { decided: before, recordedAt }: { readonly decided: number; readonly recordedAt: string },
  entries: readonly { readonly kind: string }[],
): Counted {
  let decided = before
  for (const { kind } of entries) if (kind === DECISION) decided++
  return { decided, decided_month: recordedAt.slice(0, MONTH) }
}

/** Returns how many of the next decisions the monthly limit admits. */
export function admittedDecisions(
  { limits, settings }: OrganizationAtVersion,
  decided: number,
): number {
  const most = limits.decisions_per_month
  if (most === undefined || settings.at_monthly_limit === 'overage') return Infinity
  return Math.max(0, most - decided)
}

/** Returns the refusal of a decision beyond the monthly limit; `now` in milliseconds. */
export function quotaExceeded({ limits }: OrganizationAtVersion, now: number): Failure {
  const at = new Date(now)
  const next = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
  return fail(
    'quota_exceeded',
    `The organization may request at most ${limits.decisions_per_month} decisions per month`,
    { headers: { 'Retry-After': String(Math.max(1, Math.ceil((next - now) / 1000))) } },
  )
}

/** Shares of the monthly limit that are recorded. */
const PERCENTS = [80, 100] as const

interface Count {
  readonly limit: number | null
  readonly decided: number
}

/**
 * Entries for shares of the monthly limit that are newly reached, by decisions or by a lower limit.
 * The count of a month never falls, so each is recorded once per month and limit.
 */
export function quotaEntries(
  before: Count,
  after: Count,
  recordedAt: string,
): EntryDraft<'quota.threshold'>[] {
  const { limit, decided } = after
  if (limit === null) return []
  return PERCENTS.filter((percent) => reaches(after, percent) && !reaches(before, percent)).map(
    (threshold_percent) => ({
      kind: 'quota.threshold',
      actor: SYSTEM,
      data: { month: recordedAt.slice(0, MONTH), threshold_percent, limit, decisions: decided },
    }),
  )
}

const reaches = ({ limit, decided }: Count, percent: number): boolean =>
  limit !== null && decided * 100 >= limit * percent
