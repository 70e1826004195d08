import type { Problem, ProblemCode } from '../problem.ts'

/** Codes of failures that no server of Remit answered: see `RemitError.code`. */
export type TransportCode = 'timed_out' | 'unexpected_answer' | 'unreachable'

interface Failed {
  readonly code: ProblemCode | TransportCode
  readonly message: string
  readonly status?: number
  readonly headers?: Headers
  readonly problem?: Problem
  readonly cause?: unknown
}

/**
 * A call that did not succeed.
 *
 * `code` is a code of `docs/errors.md`, or `unreachable` (no answer, or one that broke off), `timed_out`
 * (no whole answer in time) or `unexpected_answer` (an answer that is not Remit's, such as the HTML page
 * of a proxy).
 */
export class RemitError extends Error {
  readonly code: ProblemCode | TransportCode
  /** HTTP status; 0 where there was no answer. */
  readonly status: number
  /** Headers of the answer; empty where there was none. */
  readonly headers: Headers
  /** The body of RFC 9457; null where the answer was not Remit's. */
  readonly problem: Problem | null

  constructor({ code, message, status = 0, headers, problem, cause }: Failed) {
    super(`${code}: ${message}`, cause === undefined ? undefined : { cause })
    this.name = 'RemitError'
    this.code = code
    this.status = status
    this.headers = headers ?? new Headers()
    this.problem = problem ?? null
  }

  /** Milliseconds of `Retry-After`, null without one. */
  get retryAfterMs(): number | null {
    const value = this.headers.get('retry-after')
    if (value === null) return null
    const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
    return Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : null
  }
}
