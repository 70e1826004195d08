import type { ApprovalRule, ApprovalRuleInput } from '@remit/contract'
import { queryOptions } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import { versionOf } from '../rules/draft.ts'
import type { Version } from '../rules/draft.ts'
import { withCondition } from '../rules/validation.ts'

export const pathOf = (id: string): string => `/v1/approval-rules/${encodeURIComponent(id)}`

export const readRule = (id: string, signal?: AbortSignal): Promise<Version<ApprovalRule>> =>
  versionOf(remit.getApprovalRule.withResponse({ params: { id }, ...(signal && { signal }) }))

export const ruleQuery = (id: string) =>
  queryOptions({
    queryKey: ['approval-rules', id],
    queryFn: ({ signal }) => readRule(id, signal),
    refetchOnWindowFocus: false,
  })

/** The id of a rule is part of its path; any valid one serves for a draft without. */
export const validateRule = (input: ApprovalRuleInput, signal: AbortSignal, id: string) =>
  withCondition(input, (body) =>
    remit.setApprovalRule({
      params: { id: id || 'draft' },
      query: { validate: 'true' },
      body,
      signal,
    }),
  )
