import { PROBLEMS } from '@remit/contract'
import type { FieldError, Problem } from '@remit/contract'
import type { z } from 'zod'
import { isUnavailable, unavailable } from '../db/failure.ts'
import { Failure, fail } from '../errors.ts'

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
    detail: message,
    code,
    request_id: requestId,
    ...(extras.errors && { errors: extras.errors }),
    ...extras.extensions,
  }
}

/** A failed validation as the 400 that names every faulty field. */
export function invalidInput(error: z.ZodError): Failure {
  const errors = error.issues.flatMap((issue) => fieldErrors(issue, []))
  const [first] = errors
  return fail('invalid_request', first && `${first.path || 'body'}: ${first.message}`, { errors })
}

type Issue = z.core.$ZodIssue

function fieldErrors(issue: Issue, parents: readonly PropertyKey[]): FieldError[] {
  const path = [...parents, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...path, key].map(String).join('.'),
      message: 'is not a known field',
    }))
  }
  if (issue.code === 'invalid_union') {
    // The branch that got furthest says most about what was meant.
    const [best] = issue.errors.toSorted((a, b) => depthOf(b) - depthOf(a))
    const inner = best?.flatMap((nested) => fieldErrors(nested, path)) ?? []
    if (inner.length > 0) return inner
  }
  return [{ path: path.map(String).join('.'), message: plain(issue.message) }]
}

/** Zod's own sentences, without their preamble. */
function plain(message: string): string {
  const [, expected, received] =
    /^Invalid input: expected (.+), received (\w+)$/.exec(message) ?? []
  if (expected === undefined)
    return message.replace(/^Invalid (input|option): (expected )?/, 'must be ')
  return received === 'undefined'
    ? `is required: ${expected}`
    : `must be ${expected}, not ${received}`
}

const depthOf = (issues: readonly Issue[]): number =>
  Math.max(0, ...issues.map((issue) => issue.path.length))
