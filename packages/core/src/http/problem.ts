import { PROBLEMS } from '@remit/contract'
import type { FieldError, Problem } from '@remit/contract'
import { isUnavailable, unavailable } from '../db/failure.ts'
import { Failure, fail } from '../base/errors.ts'
import type { FailureExtras } from '../base/errors.ts'

// Whoever sends a megabyte of faults is not sent a megabyte of sentences about them.
const MAX_ERRORS = 50
const MAX_PATH = 256
const MAX_DETAIL = 2_000

/** The one place that turns errors into responses (RFC 9457). What is not a `Failure` is a 500 without detail. */
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

/** The failure that an error amounts to for the outside. */
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

/** The extras of a failure with as many errors as an answer shows. */
export function cutErrors({ errors: all, ...extras }: FailureExtras): FailureExtras {
  if (!all) return extras
  const { errors = [], ...omitted } = errorsMember(all)
  return { ...extras, errors, extensions: { ...extras.extensions, ...omitted } }
}

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`
