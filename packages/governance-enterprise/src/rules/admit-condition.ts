import { fail } from '@remit/core/base'
import { compileCondition, ConditionError } from './condition.ts'
import type { Condition } from './condition.ts'
import type { Variables } from './types.ts'

/**
 * Compiles the condition of a new rule. Refuses an invalid one with `invalid_request`, naming the
 * field and the position in the text; the problem document also has it as `position`.
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
