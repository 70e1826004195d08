import type { Entry } from '@remit/contract'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { remit } from './client.ts'

interface ListCall {
  readonly query: { readonly limit: number }
  readonly signal: AbortSignal
}

/** A list with at most `limit` objects; by default as many as a list can have. */
export const listQuery = <Answer>(
  key: string,
  read: (call: ListCall) => Promise<Answer>,
  limit = 1_000,
) =>
  queryOptions({
    queryKey: [key],
    queryFn: ({ signal }) => read({ query: { limit }, signal }),
  })

export const agentsQuery = listQuery('agents', remit.listAgents)
export const approvalRulesQuery = listQuery('approval-rules', remit.listApprovalRules)
export const issuersQuery = listQuery('issuers', remit.listIssuers)
export const keysQuery = listQuery('keys', remit.listKeys)
export const policiesQuery = listQuery('policies', remit.listPolicies)
export const trustQuery = {
  ...listQuery('trust', remit.listTrustPolicies),
  refetchOnWindowFocus: false,
}

export const limitsQuery = queryOptions({
  queryKey: ['spend', 'limits'],
  queryFn: ({ signal }) => remit.listSpendLimits({ query: { limit: 1_000 }, signal }),
})

/** The limit of an agent; null without one. Read from the list, where a missing one is no error. */
export const limitQuery = (agentId: string) =>
  queryOptions({
    ...limitsQuery,
    select: ({ data }) => data.find(({ agent_id }) => agent_id === agentId) ?? null,
  })

interface Page<T> {
  readonly data: T[]
  readonly next_cursor: string | null
}

/** The rows of a long list, page after page. `read` answers the page at a cursor. */
export const pagesQuery = <T>(
  queryKey: readonly unknown[],
  read: (cursor: string | undefined, signal?: AbortSignal) => Promise<Page<T>>,
) =>
  infiniteQueryOptions({
    queryKey,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => read(pageParam || undefined, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => ({ data: pages.flatMap(({ data }) => data) }),
  })

/** The newest entries of a kind that `holds` selects. A page searches 500 and may have none. */
export const entriesQuery = (
  queryKey: readonly unknown[],
  query: { readonly kind: string; readonly from?: string },
  holds: (entry: Entry) => boolean,
) =>
  pagesQuery(queryKey, async (cursor, signal) => {
    const page = await remit.listEntries({
      query: { ...query, limit: 500, cursor },
      ...(signal && { signal }),
    })
    return { ...page, data: page.data.filter(holds) }
  })

export const organizationQuery = queryOptions({
  queryKey: ['organization'],
  queryFn: ({ signal }) => remit.getOrganization({ signal }),
})

/** The time of the first entry of the ledger; null without one. It does not change while a page is open. */
export const ledgerStartQuery = queryOptions({
  queryKey: ['ledger', 'start'],
  staleTime: Infinity,
  queryFn: async ({ signal }) => {
    const query = { order: 'asc', limit: 1, fields: 'header' } as const
    return (await remit.listEntries({ query, signal })).data[0]?.recorded_at ?? null
  },
})
