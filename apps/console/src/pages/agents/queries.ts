import { queryOptions } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'

export const agentQuery = (id: string) =>
  queryOptions({
    queryKey: ['agents', id],
    queryFn: ({ signal }) => remit.getAgent({ params: { agentID: id }, signal }),
  })

export const credentialsQuery = (id: string) =>
  queryOptions({
    queryKey: ['agents', id, 'credentials'],
    queryFn: ({ signal }) =>
      remit.listCredentials({ params: { agentID: id }, query: { limit: 100 }, signal }),
  })

export const effectiveQuery = (id: string) =>
  queryOptions({
    queryKey: ['agents', id, 'effective'],
    queryFn: ({ signal }) => remit.getEffectivePermissions({ query: { agent_id: id }, signal }),
  })
