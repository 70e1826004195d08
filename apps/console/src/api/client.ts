import { createClient, RemitError } from '@remit/contract/client'
import type { WholeClient } from '@remit/contract/client'

/**
 * The client of the contract, with the session's cookie for a key: a call that carries
 * `Authorization` would ignore the cookie.
 */
export const remit: WholeClient = createClient({
  baseUrl: location.origin,
  key: 'session',
  retries: 1,
  fetch: (request) => {
    request.headers.delete('authorization')
    return fetch(request)
  },
})

/** One sentence for a person, from any failure. */
export function messageOf(error: unknown): string {
  if (error instanceof RemitError && error.problem) return error.problem.detail
  return error instanceof Error ? error.message : String(error)
}

/** True if the server has no such record: another attempt finds none either. */
export const isMissing = (error: unknown): boolean =>
  error instanceof RemitError && error.status === 404

/** Returns whether the server answers. */
export const isServerThere = (): Promise<boolean> =>
  fetch('/health').then(
    () => true,
    () => false,
  )
