// Without `zod`, for browsers.
import type { Decision } from './authorize.ts'

/** Facts about a reason of `POST /v1/authorize`, for readers of the ledger. */
export interface ReasonFacts {
  /** The decision that it explains; null for self-tests, which are no decisions. */
  readonly decision: Decision | null
  /**
   * The part of the policies: they denied the request or let it pass, or another stage denied it
   * before or after them, or at a place that the reason does not name.
   */
  readonly policies: 'denied' | 'passed' | 'before' | 'after' | 'unnamed'
  /** True if `matched` names what the reason refers to. */
  readonly needsMatch: boolean
  /** The cause of a denial by spend: beyond a limit, or without data. Null for other reasons. */
  readonly spend: 'cap' | 'no_data' | null
}

const passed = { decision: 'allow', policies: 'passed', needsMatch: true, spend: null } as const
const denied = { decision: 'deny', policies: 'denied', needsMatch: true, spend: null } as const
const before = { decision: 'deny', policies: 'before', needsMatch: true, spend: null } as const
const after = { ...before, policies: 'after' } as const

/** Every reason, in the order of the documentation. Readers take what they need from its row. */
export const REASONS = {
  default_allow: { ...passed, needsMatch: false },
  default_deny: { ...denied, needsMatch: false },
  policy_allow: passed,
  policy_deny: denied,
  policy_error: { ...denied, needsMatch: false },
  approved: passed,
  permission_grant: passed,
  agent_denied: before,
  agent_suspended: before,
  agent_removed: before,
  no_permission: { ...before, needsMatch: false },
  spend_limit_hourly: { ...before, spend: 'cap' },
  spend_limit_daily: { ...before, spend: 'cap' },
  spend_limit_monthly: { ...before, spend: 'cap' },
  budget_exceeded: { ...before, spend: 'cap' },
  spend_unavailable: { ...before, needsMatch: false, spend: 'no_data' },
  amount_invalid: before,
  context_unseen: { ...before, needsMatch: false },
  approval_required: { ...passed, decision: 'needs_approval' },
  approval_rejected: after,
  approval_backlog: after,
  stage_unavailable: { ...before, policies: 'unnamed', needsMatch: false },
  unmappable: { ...before, needsMatch: false },
  self_test: { ...before, decision: null, needsMatch: false },
} satisfies Record<string, ReasonFacts>

export const isReason = (reason: unknown): reason is keyof typeof REASONS =>
  typeof reason === 'string' && Object.hasOwn(REASONS, reason)

/**
 * The facts about a recorded reason. Null for one that this version does not know: a reader must
 * not treat such a decision as if another stage or the policies had let it pass.
 */
export const reasonFacts = (reason: unknown): ReasonFacts | null =>
  isReason(reason) ? REASONS[reason] : null
