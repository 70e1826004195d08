import { isoTime } from '@remit/core'
import type { StoredStatus } from '../tables/approvals.ts'

/** The stages of an approval request; each is left once and never returned to. */
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

/** A status as it was stored, with the time until which it counts in decisions. */
export interface Dated {
  readonly status: Status
  readonly counts_until: string | null
}

/** The status at a time, milliseconds: what has run out is expired, whether that was recorded or not. */
export function statusAt({ status, counts_until: until }: Dated, now: number): Status {
  if (status !== 'pending' && status !== 'approved') return status
  return counts(until, now) ? status : 'expired'
}

/** Whether a rejection still stands in the way of the same request. */
export const isCoolingDown = ({ status, counts_until: until }: Dated, now: number): boolean =>
  status === 'rejected' && counts(until, now)

/** Half open: at the end itself, time is up. */
const counts = (until: string | null, now: number): boolean =>
  until !== null && isoTime(now) < until

/** When something that begins now is over; null when it lasts no time at all. */
export const endOf = (now: number, seconds: number): string | null =>
  seconds > 0 ? isoTime(now + seconds * 1000) : null
