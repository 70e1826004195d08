import type { AccessDecision, AuthorizeAnswer } from '@remit/contract'
import type { AnyDatabase } from '@remit/core/db'
import { bindingOf } from '../approvals/binding.ts'
import { statusAt } from '../approvals/lifecycle.ts'
import { boundOf } from '../approvals/request.ts'
import { findRequest } from '../approvals/store.ts'
import type { MappedEvaluation } from './mapping.ts'

/** The state of the approval that a request refers to (`context.approval.id`). */
export type ApprovalReference = 'unknown' | 'out_of_scope' | 'over' | 'open'

/**
 * Reads the approval that a request refers to; null without a reference. It explains a denial and
 * decides nothing: approvals are found by their binding, never by the caller's reference.
 */
export async function referenceOf(
  db: AnyDatabase,
  orgId: string,
  question: MappedEvaluation,
  now: number,
): Promise<ApprovalReference | null> {
  const { approval } = question.request.context ?? {}
  if (typeof approval !== 'object' || approval === null || !('id' in approval)) return null
  const row =
    typeof approval.id === 'string' ? await findRequest(db, orgId, approval.id) : undefined
  if (!row) return 'unknown'
  if (bindingOf(question, boundOf(row)).hash !== row.binding_hash) return 'out_of_scope'
  return ['pending', 'approved', 'rejected'].includes(statusAt(row, now)) ? 'open' : 'over'
}

type Explanation = Pick<NonNullable<AccessDecision['context']>, 'approval_reason' | 'next_action'>

const FAILED: Readonly<Record<ApprovalReference, Explanation>> = {
  unknown: { approval_reason: 'approval_unverifiable', next_action: 'none' },
  out_of_scope: { approval_reason: 'out_of_scope', next_action: 'request' },
  over: { approval_reason: 'approval_expired', next_action: 'request' },
  open: {},
}

/**
 * Why the referenced approval did not apply, by the name of the AuthZEN Access Request and Approval
 * Profile. The profile's `reason` stays ours: it is optional there, and clients follow `next_action`.
 */
export function explain(
  { decision, reason }: AuthorizeAnswer,
  reference: ApprovalReference | null,
): Explanation {
  if (reference === null || decision === 'allow') return {}
  if (decision === 'needs_approval') return FAILED[reference]
  return reason === 'approval_rejected' || reason === 'approval_backlog'
    ? {}
    : { approval_reason: 'policy_denied', next_action: 'none' }
}
