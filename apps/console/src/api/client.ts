import { createClient, RemitError } from '@remit/contract/client'
import type { Problem } from '@remit/contract'

/**
 * The client of the contract, with the session's cookie for a key: a call that carries
 * `Authorization` would ignore the cookie.
 */
export const remit = createClient({
  baseUrl: location.origin,
  key: 'session',
  retries: 1,
  fetch: (request) => {
    request.headers.delete('authorization')
    return fetch(request)
  },
})

export interface Answered<T> {
  readonly data: T
  readonly headers: Headers
}

export interface SendOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** A call by method and path. */
export const send = async <T>(method: string, path: string, options?: SendOptions): Promise<T> =>
  (await exchange<T>(method, path, options)).data

/** The same, with the headers of the answer. */
export async function exchange<T>(
  method: string,
  path: string,
  options: SendOptions = {},
): Promise<Answered<T>> {
  const { query = {}, body, headers, signal } = options
  const url = new URL(path, location.origin)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value))
  const response = await fetch(url, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause
    throw new RemitError({ code: 'unreachable', message: `${method} ${path} failed`, cause })
  })
  const text = await response.text()
  if (!response.ok) throw refusal(response, text)
  const isJson = response.headers.get('content-type')?.includes('json')
  const data = (text === '' ? undefined : isJson ? JSON.parse(text) : text) as T
  return { data, headers: response.headers }
}

function refusal({ status, headers }: Response, text: string): RemitError {
  try {
    const problem = JSON.parse(text) as Problem
    if (typeof problem.code === 'string')
      return new RemitError({
        code: problem.code,
        message: problem.detail,
        status,
        headers,
        problem,
      })
  } catch {
    // A proxy answered, with something else than JSON.
  }
  return new RemitError({ code: 'unexpected_answer', message: `${status}`, status, headers })
}

/** One sentence for a person, from any failure. */
export function messageOf(error: unknown): string {
  if (error instanceof RemitError && error.problem) return error.problem.detail
  return error instanceof Error ? error.message : String(error)
}

/** The errors of single fields, as `path: message`. */
export function fieldErrorsOf(error: unknown): readonly { path: string; message: string }[] {
  return error instanceof RemitError ? (error.problem?.errors ?? []) : []
}
