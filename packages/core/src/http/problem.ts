import { PROBLEMS } from '@remit/contract'
import type { FieldError, Problem, ProblemCode } from '@remit/contract'
import { isUnavailable, unavailable } from '../db/failure.ts'
import { Failure, fail } from '../base/errors.ts'
import type { FailureExtras } from '../base/errors.ts'

// Limits the size of the response to a body with many errors.
const MAX_ERRORS = 50
const MAX_PATH = 256
const MAX_DETAIL = 2_000

/**
 * Converts errors into responses (RFC 9457). Only place to do so. An error that is not a `Failure`
 * becomes a 500 without detail.
 */
export function problemResponse(
  error: unknown,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const failure = asFailure(error)
  return new Response(JSON.stringify(problemBody(failure, requestId)), {
    status: failure.status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
      ...headers,
      ...failure.extras.headers,
    },
  })
}

/** Returns the failure that clients see for an error. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  return isUnavailable(error) ? unavailable('database_unavailable') : fail('internal_error')
}

export function problemBody(
  { code, status, message, extras }: Failure,
  requestId: string,
): Problem {
  return {
    type: `urn:remit:problem:${code}`,
    title: PROBLEMS[code][1],
    status,
    detail: cut(message, MAX_DETAIL),
    code,
    request_id: requestId,
    ...(extras.errors && errorsMember(extras.errors)),
    ...extras.extensions,
  }
}

function errorsMember(errors: readonly FieldError[]): Pick<Problem, 'errors' | 'errors_omitted'> {
  const omitted = errors.length - MAX_ERRORS
  return {
    errors: errors
      .slice(0, MAX_ERRORS)
      .map(({ path, message }) => ({ path: cut(path, MAX_PATH), message })),
    ...(omitted > 0 && { errors_omitted: omitted }),
  }
}

/** Limits the errors of a failure to the number that a response shows. */
export function cutErrors({ errors: all, ...extras }: FailureExtras): FailureExtras {
  if (!all) return extras
  const { errors = [], ...omitted } = errorsMember(all)
  return { ...extras, errors, extensions: { ...extras.extensions, ...omitted } }
}

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`

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
