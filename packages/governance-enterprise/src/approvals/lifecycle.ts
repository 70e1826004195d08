import { isoTime } from '@remit/core/base'
import type { StoredStatus } from '../tables/approvals.ts'

/** The states of an approval request; no state is entered twice. */
export type Status = StoredStatus

const NEXT: Readonly<Record<Status, readonly Status[]>> = {
  pending: ['approved', 'rejected', 'expired', 'cancelled'],
  approved: ['consumed', 'expired', 'revoked'],
  rejected: [],
  expired: [],
  cancelled: [],
  consumed: [],
  revoked: [],
}

export const canBecome = (from: Status, to: Status): boolean => NEXT[from].includes(to)

/** A stored status with the time until which it is in effect. */
export interface TimedStatus {
  readonly status: Status
  readonly counts_until: string | null
}

/** The status at a time, milliseconds: `expired` after its end, recorded or not. */
export function statusAt({ status, counts_until: until }: TimedStatus, now: number): Status {
  if (status !== 'pending' && status !== 'approved') return status
  return counts(until, now) ? status : 'expired'
}

/** Returns whether a rejection still blocks an equal request. */
export const isCoolingDown = ({ status, counts_until: until }: TimedStatus, now: number): boolean =>
  status === 'rejected' && counts(until, now)

/** Half-open: the end itself is excluded. */
const counts = (until: string | null, now: number): boolean =>
  until !== null && isoTime(now) < until

/** The end of a duration that starts now; null for a duration of 0. */
export const endOf = (now: number, seconds: number): string | null =>
  seconds > 0 ? isoTime(now + seconds * 1000) : null
