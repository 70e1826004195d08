import type { ApprovalRule, ApprovalRuleInput, Validation } from '@remit/contract'
import { queryOptions } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import { withCondition } from '../rules/validation.ts'

export const rulesQuery = queryOptions({
  queryKey: ['approval-rules'],
  queryFn: ({ signal }) => remit.listApprovalRules({ query: { limit: 1_000 }, signal }),
})

export const pathOf = (id: string): string => `/v1/approval-rules/${encodeURIComponent(id)}`

export interface Stored {
  readonly rule: ApprovalRule
  readonly etag: string
}

export const readRule = async (id: string, signal?: AbortSignal): Promise<Stored> => {
  const { data, headers } = await remit.getApprovalRule.withResponse({
    params: { id },
    ...(signal && { signal }),
  })
  return { rule: data, etag: headers.get('etag') ?? '' }
}

export const ruleQuery = (id: string) =>
  queryOptions({
    queryKey: ['approval-rules', id],
    queryFn: ({ signal }) => readRule(id, signal),
    refetchOnWindowFocus: false,
  })

/** The id of a rule is part of its path; any valid one serves for a draft without. */
export const validateRule = (
  { id, body: input }: { id: string; body: ApprovalRuleInput },
  signal: AbortSignal,
): Promise<Validation> =>
  withCondition(input, (body) =>
    remit.setApprovalRule({
      params: { id: id || 'draft' },
      query: { validate: 'true' },
      body,
      signal,
    }),
  )
