import { RemitError } from '@remit/contract/client'
import type { Actor, Session } from '@remit/contract'
import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { remit } from './client.ts'
import { keysQuery } from './queries.ts'

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

/** Returns the words for an actor: `carla (key_1)` for a key with a name, where the reader may list keys. */
export function useActorText(): (actor: Actor | null) => string | null {
  const can = useCan()
  const { data } = useQuery({ ...keysQuery, enabled: can('GET /v1/keys'), staleTime: 60_000 })
  return (actor) => {
    if (!actor) return null
    const name = data?.data.find(({ id }) => id === actor.id)?.name
    return name ? `${name} (${actor.id})` : `${actor.type} ${actor.id}`.trim()
  }
}
