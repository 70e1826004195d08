import { z } from 'zod'
import type { Decision } from './authorize.ts'

/** Facts about a reason of `POST /v1/authorize`, for readers of the ledger. */
interface ReasonFacts {
  /** The decision that it explains; null for self-tests, which are no decisions. */
  readonly decision: Decision | null
  /** The part of the policies: they denied the request, let it pass, or another stage denied it. */
  readonly policies: 'denied' | 'passed' | 'elsewhere'
  /** True if `matched` names what the reason refers to. */
  readonly needsMatch: boolean
  /** The cause of a denial by spend: beyond a limit, or without data. */
  readonly spend?: 'cap' | 'no_data'
}

const passed = { decision: 'allow', policies: 'passed', needsMatch: true } as const
const denied = { decision: 'deny', policies: 'denied', needsMatch: true } as const
const elsewhere = { decision: 'deny', policies: 'elsewhere', needsMatch: true } as const

/** Every reason, in the order of the documentation. A new one is a row here and nothing else. */
export const REASONS = {
  default_allow: { ...passed, needsMatch: false },
  default_deny: { ...denied, needsMatch: false },
  policy_allow: passed,
  policy_deny: denied,
  policy_error: { ...denied, needsMatch: false },
  approved: passed,
  permission_grant: passed,
  agent_denied: elsewhere,
  agent_suspended: elsewhere,
  agent_removed: elsewhere,
  no_permission: { ...elsewhere, needsMatch: false },
  spend_limit_daily: { ...elsewhere, spend: 'cap' },
  spend_limit_monthly: { ...elsewhere, spend: 'cap' },
  spend_unavailable: { ...elsewhere, needsMatch: false, spend: 'no_data' },
  amount_invalid: elsewhere,
  context_unseen: { ...elsewhere, needsMatch: false },
  approval_required: { ...passed, decision: 'needs_approval' },
  approval_rejected: elsewhere,
  approval_backlog: elsewhere,
  stage_unavailable: { ...elsewhere, needsMatch: false },
  unmappable: { ...elsewhere, needsMatch: false },
  self_test: { ...elsewhere, decision: null, needsMatch: false },
} satisfies Record<string, ReasonFacts>

export const Reason = z
  .enum(Object.keys(REASONS) as (keyof typeof REASONS)[])
  .meta({ id: 'Reason' })
export type Reason = z.infer<typeof Reason>

export const isReason = (reason: unknown): reason is Reason =>
  typeof reason === 'string' && Object.hasOwn(REASONS, reason)

/**
 * The facts about a recorded reason. Null for one that this version does not know: a reader must
 * not treat such a decision as if another stage or the policies had let it pass.
 */
export const reasonFacts = (reason: unknown): ReasonFacts | null =>
  isReason(reason) ? REASONS[reason] : null
