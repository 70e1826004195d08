import type { ApprovalRule, ApprovalRuleInput } from '@remit/contract'
import { keptOf, linesOf, numberOf, textOrNull } from '../rules/validation.ts'

/** An approval rule as it is typed: lists as lines, numbers as text. */
export interface Draft {
  readonly description: string
  readonly enabled: boolean
  readonly agents: string
  readonly actions: string
  readonly resources: string
  readonly condition: string
  readonly users: string
  readonly roles: string
  readonly required_approvals: string
  readonly required_rejections: string
  readonly prevent_self_approval: boolean
  readonly reason_required: boolean
  readonly comment_to_agent: boolean
  readonly request_ttl_seconds: string
  readonly approval_ttl_seconds: string
  readonly rejection_cooldown_seconds: string
  /** Members of the context, one a line; null binds all of them. */
  readonly binding_context: string | null
  /** The stored rule, for members that the form does not show. */
  readonly kept: Partial<ApprovalRuleInput>
}

export const EMPTY: Draft = {
  description: '',
  enabled: true,
  agents: '*',
  actions: '',
  resources: '*',
  condition: '',
  users: '',
  roles: '',
  required_approvals: '1',
  required_rejections: '1',
  prevent_self_approval: true,
  reason_required: false,
  comment_to_agent: false,
  request_ttl_seconds: '86400',
  approval_ttl_seconds: '3600',
  rejection_cooldown_seconds: '3600',
  binding_context: null,
  kept: {},
}

export const draftOf = (rule: ApprovalRule): Draft => ({
  description: rule.description ?? '',
  enabled: rule.enabled,
  agents: rule.agents.join('\n'),
  actions: rule.actions.join('\n'),
  resources: rule.resources.join('\n'),
  condition: rule.condition ?? '',
  users: rule.approvers?.users.join('\n') ?? '',
  roles: rule.approvers?.roles.join('\n') ?? '',
  required_approvals: String(rule.required_approvals),
  required_rejections: String(rule.required_rejections),
  prevent_self_approval: rule.prevent_self_approval,
  reason_required: rule.reason_required,
  comment_to_agent: rule.comment_to_agent,
  request_ttl_seconds: String(rule.request_ttl_seconds),
  approval_ttl_seconds: String(rule.approval_ttl_seconds),
  rejection_cooldown_seconds: String(rule.rejection_cooldown_seconds),
  binding_context: rule.binding_context?.join('\n') ?? null,
  kept: keptOf(rule),
})

/** The body of the API. */
export function inputOf(draft: Draft): ApprovalRuleInput {
  const [users, roles] = [linesOf(draft.users), linesOf(draft.roles)]
  return {
    ...draft.kept,
    description: textOrNull(draft.description),
    enabled: draft.enabled,
    agents: linesOf(draft.agents),
    actions: linesOf(draft.actions),
    resources: linesOf(draft.resources),
    condition: textOrNull(draft.condition),
    approvers: users.length + roles.length === 0 ? null : { users, roles },
    required_approvals: numberOf(draft.required_approvals),
    required_rejections: numberOf(draft.required_rejections),
    prevent_self_approval: draft.prevent_self_approval,
    reason_required: draft.reason_required,
    comment_to_agent: draft.comment_to_agent,
    request_ttl_seconds: numberOf(draft.request_ttl_seconds),
    approval_ttl_seconds: numberOf(draft.approval_ttl_seconds),
    rejection_cooldown_seconds: numberOf(draft.rejection_cooldown_seconds),
    binding_context: membersOf(draft),
  }
}

/** Names of members may have blanks and line ends, which the lines of the form have not: unchanged, they stay. */
function membersOf({ binding_context: text, kept }: Draft): string[] | null {
  const stored = kept.binding_context ?? null
  if (text === null || text === stored?.join('\n')) return text === null ? null : stored
  return linesOf(text)
}
