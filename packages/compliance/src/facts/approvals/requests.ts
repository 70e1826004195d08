import type { ApprovalState } from '../state/approvals.ts'

/** Returns whether a request was approved with the vote of at least one person. */
export const isReleasedByPerson = ({ usableUntil, personApproved }: ApprovalState): boolean =>
  usableUntil !== null && personApproved

/** Returns whether a request was approved in the period that starts at `from`. */
export const wasReleasedSince = ({ usableUntil, decidedAt }: ApprovalState, from: number) =>
  usableUntil !== null && decidedAt !== null && decidedAt >= from
