import { RemitError } from '@remit/contract/client'
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { sessionQuery } from './session.ts'

/** A session can end at any time, on any process: the next refused call shows the login page. */
const askAgain = (error: unknown): void => {
  if (error instanceof RemitError && error.status === 401) void refresh('session')
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: askAgain }),
  mutationCache: new MutationCache({ onError: askAgain }),
  // The client of the contract repeats transient failures by itself.
  defaultOptions: { queries: { retry: false, staleTime: 2_000 }, mutations: { retry: false } },
})

/** Asks again for everything that is known below a key; without a key, for everything. */
export const refresh = (...queryKey: readonly string[]): Promise<void> =>
  queryClient.invalidateQueries({ queryKey })

/** Forgets everything that another session may not see. */
export const forgetAll = (): void =>
  queryClient.removeQueries({
    predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0],
  })
