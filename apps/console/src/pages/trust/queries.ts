import type { TrustPolicyInput, Validation } from '@remit/contract'
import { queryOptions } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import { withCondition } from '../rules/validation.ts'

/** At most 1,000 exist. */
export const trustQuery = queryOptions({
  queryKey: ['trust'],
  queryFn: ({ signal }) => remit.listTrustPolicies({ query: { limit: 1_000 }, signal }),
  refetchOnWindowFocus: false,
})

export const validateTrust = (input: TrustPolicyInput, signal: AbortSignal): Promise<Validation> =>
  withCondition(input, (body) =>
    remit.createTrustPolicy({ query: { validate: 'true' }, body, signal }),
  )
