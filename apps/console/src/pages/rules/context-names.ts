import { queryOptions } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'

const isName = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name)

/** Names that requests had below `context` lately, for completion. */
export const contextNamesQuery = queryOptions({
  queryKey: ['context-names'],
  queryFn: async ({ signal }) => {
    const query = { kind: 'authorization.decided', limit: 500 }
    const { data } = await remit.listEntries({ query, signal })
    const names = data.flatMap((entry) => Object.keys(entry.data?.['context'] ?? {}))
    return [...new Set(names)].filter(isName).toSorted((one, other) => (one < other ? -1 : 1))
  },
  staleTime: 300_000,
})
