import type { ApprovalState } from '../state/approvals.ts'

/** Whether people released a request: it was approved, and at least one of them is a person. */
export const isReleasedByPerson = ({ usableUntil, personApproved }: ApprovalState): boolean =>
  usableUntil !== null && personApproved

/** Whether a request counts as released in the period that begins at `from`: it was approved in it. */
export const wasReleasedSince = ({ usableUntil, decidedAt }: ApprovalState, from: number) =>
  usableUntil !== null && decidedAt !== null && decidedAt >= from
