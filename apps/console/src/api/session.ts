import { RemitError } from '@remit/contract/client'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { send } from './client.ts'

export interface Principal {
  readonly type: 'person' | 'key' | 'agent'
  readonly id: string
  readonly name?: string | null
  readonly email?: string | null
  readonly role: string
}

/** The answer of `GET /v1/session`. */
export interface Session {
  readonly principal: Principal | null
  readonly organization: {
    readonly id: string
    readonly name: string
    readonly plan: string
  } | null
  readonly edition: string
  readonly evaluation: boolean
  /** Mounted endpoints that the principal may call, as `POST /v1/policies`. */
  readonly endpoints: readonly string[]
  readonly login: { readonly key: boolean; readonly oidc: { readonly label: string } | null }
}

const SIGNED_OUT: Session = {
  principal: null,
  organization: null,
  edition: '',
  evaluation: false,
  endpoints: [],
  login: { key: true, oidc: null },
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) =>
    send<Session>('GET', '/v1/session', { signal }).catch((error: unknown) => {
      if (error instanceof RemitError && error.status === 401) return SIGNED_OUT
      throw error
    }),
  staleTime: 60_000,
})

export const useSession = (): Session => useSuspenseQuery(sessionQuery).data

/** Returns a test for what the principal may call; pages hide what it refuses. */
export function useCan(): (endpoint: string) => boolean {
  const { endpoints } = useSession()
  return (endpoint) => endpoints.includes(endpoint)
}

export const signInWithKey = (key: string): Promise<void> =>
  send('POST', '/v1/session', { body: { key } })

export const signOut = (): Promise<void> => send('DELETE', '/v1/session')
