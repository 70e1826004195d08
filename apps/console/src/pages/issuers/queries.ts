import type { IssuerInput, Validation } from '@remit/contract'
import { queryOptions } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'

export const issuersQuery = queryOptions({
  queryKey: ['issuers'],
  queryFn: ({ signal }) => remit.listIssuers({ query: { limit: 1_000 }, signal }),
})

export const validateIssuer = (body: IssuerInput, signal: AbortSignal): Promise<Validation> =>
  remit.trustIssuer({ query: { validate: 'true' }, body, signal })
