import { RemitError } from '@remit/contract/client'
import type { Session } from '@remit/contract'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { remit } from './client.ts'

const SIGNED_OUT: Session = {
  principal: null,
  organization: null,
  edition: 'community',
  evaluation: false,
  license: null,
  endpoints: [],
  login: { key: true, oidc: null, organizations: false },
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) =>
    remit.getSession({ signal }).catch((error: unknown) => {
      if (error instanceof RemitError && error.status === 401) return SIGNED_OUT
      throw error
    }),
  staleTime: 60_000,
})

export const useSession = (): Session => useSuspenseQuery(sessionQuery).data

/** Returns a test for the endpoints that the principal may call; pages hide the others. */
export function useCan(): (endpoint: string) => boolean {
  const { endpoints } = useSession()
  return (endpoint) => endpoints.includes(endpoint)
}

export const signInWithKey = (key: string): Promise<void> => remit.startSession({ body: { key } })

/** Returns the address that signs out at the identity provider; null where there is none. */
export async function signOut(): Promise<string | null> {
  const { headers } = await remit.endSession.withResponse()
  return headers.get('location')
}
