import { queryOptions } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'

export const pendingQuery = queryOptions({
  queryKey: ['approvals', 'pending'],
  queryFn: ({ signal }) =>
    remit.listApprovals({ query: { status: 'pending', limit: 200 }, signal }),
  refetchInterval: 30_000,
})
