import { fail } from '@remit/core'
import { compileCondition, ConditionError } from './condition.ts'
import type { Condition } from './condition.ts'
import type { Variables } from './types.ts'

/**
 * The condition of a new rule. One that does not compile is refused with `invalid_request`, naming the
 * field and the place in its text; the problem document carries it as `position` too.
 */
export function admitCondition(text: string, path?: string, variables?: Variables): Condition
export function admitCondition(
  text: string | null,
  path?: string,
  variables?: Variables,
): Condition | null
export function admitCondition(
  text: string | null,
  path = 'condition',
  variables?: Variables,
): Condition | null {
  if (text === null) return null
  try {
    return compileCondition(text, variables)
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error
    const { line, column } = error
    const message = `line ${line}, column ${column}: ${error.message}`
    throw fail('invalid_request', `${path}: ${message}`, {
      errors: [{ path, message }],
      extensions: { position: { line, column } },
    })
  }
}
