import type { Approval, ApprovalStatus } from '@remit/contract'
import { queryOptions } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import { pagesQuery } from '../../api/queries.ts'
import { t } from '../../texts.ts'

export type Request = Approval

const byDeadline = (one: Request, other: Request): number =>
  one.expires_at < other.expires_at ? -1 : Number(one.expires_at > other.expires_at)

export const pendingQuery = queryOptions({
  queryKey: ['approvals', 'pending'],
  queryFn: async ({ signal }) => {
    const page = await remit.listApprovals({ query: { status: 'pending', limit: 200 }, signal })
    const data: Request[] = page.data.toSorted(byDeadline)
    return { ...page, data }
  },
  refetchInterval: 30_000,
})

export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ['approvals', 'one', id],
    queryFn: ({ signal }): Promise<Request> => remit.getApproval({ params: { id }, signal }),
  })

export const historyQuery = (filter: { status?: ApprovalStatus; agent_id?: string }) => ({
  ...pagesQuery(['approvals', 'history', filter], (cursor, signal) =>
    remit.listApprovals({ query: { ...filter, limit: 50, cursor }, ...(signal && { signal }) }),
  ),
  select: ({ pages }: { readonly pages: readonly { readonly data: Request[] }[] }) => ({
    data: pages.flatMap(({ data }) => data.filter(isClosed)),
  }),
})

export const isClosed = ({ status }: Request): boolean => status !== 'pending'

/**
 * Requests of the same agent and action under one of the same rules that were approved before this one was
 * decided, newest first.
 */
export const alikeQuery = (request: Request) =>
  queryOptions({
    queryKey: ['approvals', 'alike', request.id],
    queryFn: async ({ signal }): Promise<Request[]> => {
      const rules = new Set(request.requirements.map(({ rule_id }) => rule_id))
      const { agent_id, decided_at, closed_at } = request
      const end = decided_at ?? closed_at
      const pages = await Promise.all(
        (['consumed', 'approved'] as const).map((status) =>
          remit.listApprovals({ query: { status, agent_id, limit: 100 }, signal }),
        ),
      )
      const alike = pages
        .flatMap(({ data }) => data)
        .filter(
          (one) =>
            one.id !== request.id &&
            one.action === request.action &&
            (end === null || (one.decided_at ?? one.requested_at) < end) &&
            one.requirements.some(({ rule_id }) => rules.has(rule_id)),
        )
      return alike.toSorted((a, b) => (a.requested_at < b.requested_at ? 1 : -1))
    },
    staleTime: 60_000,
  })

/** The last decisions about an agent. */
export const decisionsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['ledger', 'decisions', agentId],
    queryFn: ({ signal }) =>
      remit.listEntries({
        query: { agent_id: agentId, kind: 'authorization.decided', limit: 6 },
        signal,
      }),
    staleTime: 10_000,
  })

/** Closed statuses with their texts, for a filter. */
export const CLOSED_STATUSES = Object.entries(t.approvals.statuses).filter(
  ([status]) => status !== 'pending',
)

/** The search parameters of the page; anything else is left out. */
export function readSearch(search: Record<string, unknown>) {
  const { tab, id, status, agent_id: agentId } = search
  return {
    ...(tab === 'history' && { tab: 'history' as const }),
    ...(typeof id === 'string' && { id }),
    ...(CLOSED_STATUSES.some(([one]) => one === status) && { status: status as ApprovalStatus }),
    ...(typeof agentId === 'string' && agentId !== '' && { agent_id: agentId }),
  }
}
