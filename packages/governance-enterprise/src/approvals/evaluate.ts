import type { ApprovalRequester } from './requesters.ts'
import { isCoolingDown, statusAt } from './lifecycle.ts'
import type { TimedStatus } from './lifecycle.ts'
import { covers } from './requirements.ts'
import type { Parties, Requirement, ApprovalVote } from './requirements.ts'

/** The maximum number of pending requests of an agent; more of them would exhaust the approvers. */
export const MAX_PENDING = 50

/** An earlier request with the same binding. */
export interface EarlierRequest extends TimedStatus {
  readonly id: string
  readonly bound: readonly string[] | null
  readonly requirements: readonly Requirement[]
  readonly votes: readonly ApprovalVote[]
  readonly parties: Parties
}

/** The requirements of the current rules, and the existing requests of the agent. */
export interface ApprovalQuery<E extends EarlierRequest> {
  readonly requirements: readonly Requirement[]
  readonly bound: readonly string[] | null
  readonly earlier: readonly E[]
  /** The pending requests of the agent. */
  readonly pending: number
  /** The requesting key. Its own vote, and that of its person, do not count. */
  readonly asker: ApprovalRequester | null
  /** The approval that the request refers to. */
  readonly reference: string | null
  /** Milliseconds. */
  readonly now: number
}

export type ApprovalResult<E extends EarlierRequest> =
  | { readonly is: 'approved'; readonly by: E }
  | { readonly is: 'rejected'; readonly by: E }
  | { readonly is: 'pending'; readonly by: E }
  | { readonly is: 'backlog' }
  | { readonly is: 'new' }

/**
 * Returns the state of a request that requires an approval. A rejection takes precedence: it is
 * newer than any approval of the same binding that the current rules no longer accept.
 */
export function evaluateApproval<E extends EarlierRequest>(
  question: ApprovalQuery<E>,
): ApprovalResult<E> {
  const { requirements, bound, pending, asker, reference, now } = question
  const earlier = question.earlier.filter((one) => isSame(one.bound, bound))
  const rejected = earlier.find((one) => isCoolingDown(one, now))
  if (rejected) return { is: 'rejected', by: rejected }
  const usable = earlier.filter(
    (one) =>
      statusAt(one, now) === 'approved' &&
      covers(one.requirements, one.votes, partiesWith(one.parties, asker), requirements),
  )
  const approved = usable.find((one) => one.id === reference) ?? usable[0]
  if (approved) return { is: 'approved', by: approved }
  const open = earlier.find((one) => statusAt(one, now) === 'pending')
  if (open) return { is: 'pending', by: open }
  return { is: pending >= MAX_PENDING ? 'backlog' : 'new' }
}

const partiesWith = (parties: Parties, asker: ApprovalRequester | null): Parties =>
  asker === null ? parties : { ...parties, askers: [...parties.askers, asker] }

const isSame = (a: readonly string[] | null, b: readonly string[] | null): boolean =>
  JSON.stringify(a) === JSON.stringify(b)
