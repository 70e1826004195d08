import type { AuthorizeAnswer } from '@remit/contract'
import type { AnyDatabase } from '@remit/core'
import { bindingOf } from '../approvals/binding.ts'
import { statusAt } from '../approvals/lifecycle.ts'
import { boundOf } from '../approvals/request.ts'
import { findRequest } from '../approvals/store.ts'
import type { Question } from './mapping.ts'

/** What the approval that a request points at (`context.approval.id`) is worth for it. */
export type Reference = 'unknown' | 'out_of_scope' | 'over' | 'open'

/**
 * Reads the approval that a request points at; null where it points at none. It explains a denial and
 * decides nothing: what is approved is found by what is asked, never by what the caller names.
 */
export async function referenceOf(
  db: AnyDatabase,
  orgId: string,
  question: Question,
  now: number,
): Promise<Reference | null> {
  const { approval } = question.request.context ?? {}
  if (typeof approval !== 'object' || approval === null || !('id' in approval)) return null
  const row =
    typeof approval.id === 'string' ? await findRequest(db, orgId, approval.id) : undefined
  if (!row) return 'unknown'
  if (bindingOf(question, boundOf(row)).hash !== row.binding_hash) return 'out_of_scope'
  return ['pending', 'approved', 'rejected'].includes(statusAt(row, now)) ? 'open' : 'over'
}

interface Explanation {
  readonly reason: string
  readonly next_action?: 'request' | 'none'
}

const FAILED: Readonly<Record<Reference, Explanation | null>> = {
  unknown: { reason: 'approval_unverifiable', next_action: 'none' },
  out_of_scope: { reason: 'out_of_scope', next_action: 'request' },
  over: { reason: 'approval_expired', next_action: 'request' },
  open: null,
}

/** Our own reason; where an approval was to help and did not, that of the approval profile. */
export function explain(
  { decision, reason }: AuthorizeAnswer,
  reference: Reference | null,
): Explanation {
  if (reference === null || decision === 'allow') return { reason }
  if (decision === 'needs_approval') return FAILED[reference] ?? { reason }
  return reason === 'approval_rejected' || reason === 'approval_backlog'
    ? { reason }
    : { reason: 'policy_denied', next_action: 'none' }
}
