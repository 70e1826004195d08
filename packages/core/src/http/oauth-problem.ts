import type { ProblemCode } from '@remit/contract'
import type { Failure } from '../base/errors.ts'
import { asFailure, problemBody } from './problem.ts'

/** Codes that OAuth also defines. */
const SHARED: ReadonlySet<ProblemCode> = new Set([
  'invalid_request',
  'invalid_grant',
  'invalid_scope',
  'invalid_target',
  'unsupported_grant_type',
])

/**
 * Converts a refusal into a response for OAuth clients (RFC 6749 §5.2). They accept no other media
 * type, so the members of the problem are added to theirs.
 */
export function oauthResponse(error: unknown, requestId: string): Response {
  const failure = asFailure(error)
  const problem = problemBody(failure, requestId)
  const body = {
    error: oauthCode(failure),
    error_description: asciiOnly(problem.detail),
    ...problem,
  }
  return new Response(JSON.stringify(body), {
    status: failure.status,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
      ...failure.extras.headers,
    },
  })
}

function oauthCode({ code, status }: Failure): string {
  if (SHARED.has(code)) return code
  if (status === 401) return 'invalid_client'
  if (status === 403) return 'unauthorized_client'
  if (status === 429 || status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}

/** Keeps the characters that RFC 6749 allows in a description. */
const asciiOnly = (text: string): string => text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
