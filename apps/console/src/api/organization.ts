import { queryOptions } from '@tanstack/react-query'
import { remit } from './client.ts'

export const organizationQuery = queryOptions({
  queryKey: ['organization'],
  queryFn: ({ signal }) => remit.getOrganization({ signal }),
})
