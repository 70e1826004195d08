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

/** The code that a rule of the schema names (`params.code`), else the general one. */
function codeOf({ issues }: z.ZodError): ProblemCode {
  for (const issue of issues) {
    const named: unknown = issue.code === 'custom' ? issue.params?.['code'] : undefined
    if (named !== undefined) return named as ProblemCode
  }
  return 'invalid_request'
}

/** The failure for a failed validation; it names every faulty field. */
export function invalidInput(error: z.ZodError): Failure {
  const errors = fieldErrors(error.issues)
  const [first] = errors
  return fail(codeOf(error), first && `${first.path || 'body'}: ${first.message}`, { errors })
}
