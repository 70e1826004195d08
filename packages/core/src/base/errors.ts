import { PROBLEMS } from '@remit/contract/problem'
import type { FieldError, ProblemCode } from '@remit/contract'

/** Parts of an error response besides its code and detail. */
export interface FailureExtras {
  readonly errors?: readonly FieldError[]
  readonly headers?: Readonly<Record<string, string>>
  /** Further members of the problem document, such as `required_plan`. */
  readonly extensions?: Readonly<Record<string, unknown>>
  /**
   * The agent that a credential named instead of its own, for the record; not part of the response.
   */
  readonly asked?: string
}

/** A refusal with a code of the contract's table; `core/http/problem.ts` renders it. */
export class Failure extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly extras: FailureExtras
  constructor(code: ProblemCode, detail?: string, extras: FailureExtras = {}) {
    super(detail ?? PROBLEMS[code][1])
    this.name = 'Failure'
    this.code = code
    this.status = PROBLEMS[code][0]
    this.extras = extras
  }
}

/** The error to throw: `throw fail('spend_limit_not_found')`. */
export const fail = (code: ProblemCode, detail?: string, extras?: FailureExtras): Failure =>
  new Failure(code, detail, extras)

/** Returns what was found; throws the refusal if there is nothing. */
export function existing<T>(found: T | null | undefined, code: ProblemCode): T {
  if (found === undefined || found === null) throw fail(code)
  return found
}

/** One faulty field of the input. */
export const invalid = (path: string, message: string): Failure =>
  fail('invalid_request', `${path}: ${message}`, { errors: [{ path, message }] })
