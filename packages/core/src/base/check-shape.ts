import type { ProblemCode } from '@remit/contract'
import type { z } from 'zod'
import { fail } from './errors.ts'
import type { Failure } from './errors.ts'
import { fieldErrors } from './field-errors.ts'
import { FOR_FIELD_ERRORS } from './issue-text.ts'

/** The value as the schema returns it, with defaults applied. Throws `invalid_request`, or the schema's own code. */
export function checkShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value, FOR_FIELD_ERRORS)
  if (!result.success) throw invalidInput(result.error)
  return result.data
}

/** The code that the rule of an issue names (`params.code`). */
const codeOf = (issue: z.core.$ZodIssue): ProblemCode | undefined =>
  issue.code === 'custom' ? (issue.params?.['code'] as ProblemCode | undefined) : undefined

/**
 * The failure for a failed validation; it names every faulty field. A rule with its own code is
 * reported alone.
 */
export function invalidInput({ issues }: z.ZodError): Failure {
  const coded = issues.find((issue) => codeOf(issue) !== undefined)
  const errors = fieldErrors(coded ? [coded] : issues)
  const [first] = errors
  return fail(
    (coded && codeOf(coded)) ?? 'invalid_request',
    first && `${first.path || 'body'}: ${first.message}`,
    { errors },
  )
}
