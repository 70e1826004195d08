import { remit } from '../../api/client.ts'

export const limitsQuery = {
  queryKey: ['spend', 'limits'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    remit.listSpendLimits({ query: { limit: 1_000 }, signal }),
}
