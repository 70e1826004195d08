import type { ApprovalRule, ApprovalRuleInput, RuleMode } from '@remit/contract'
import { draftsOf, lines, linesOf, number, same, text } from '../rules/draft.ts'

type Approvers = ApprovalRuleInput['approvers']

export const approvalRuleDrafts = draftsOf<ApprovalRule, ApprovalRuleInput>()({
  description: text,
  enabled: same(true),
  mode: same<RuleMode>('enforce'),
  agents: lines('*'),
  actions: lines(''),
  resources: lines('*'),
  condition: text,
  approvers: {
    empty: { users: '', roles: '' },
    typed: (value: Approvers) => ({
      users: value?.users.join('\n') ?? '',
      roles: value?.roles.join('\n') ?? '',
    }),
    value(typed: { readonly users: string; readonly roles: string }): Approvers {
      const [users, roles] = [linesOf(typed.users), linesOf(typed.roles)]
      return users.length + roles.length === 0 ? null : { users, roles }
    },
  },
  required_approvals: number('1'),
  required_rejections: number('1'),
  prevent_self_approval: same(true),
  reason_required: same(false),
  comment_to_agent: same(false),
  request_ttl_seconds: number('86400'),
  approval_ttl_seconds: number('3600'),
  rejection_cooldown_seconds: number('3600'),
  /** Members of the context, one a line; null binds all of them. */
  binding_context: {
    empty: null as string | null,
    typed: (value: string[] | null) => value?.join('\n') ?? null,
    // Names of members may have blanks and line ends, which the lines of the form have not: unchanged, they stay.
    value(typed: string | null, stored: string[] | null = null) {
      if (typed === null) return null
      return typed === stored?.join('\n') ? stored : linesOf(typed)
    },
  },
})
export type Draft = typeof approvalRuleDrafts.empty
