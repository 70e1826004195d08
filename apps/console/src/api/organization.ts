import { queryOptions } from '@tanstack/react-query'
import { remit } from './client.ts'

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
