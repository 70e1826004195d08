import { getSystemErrorMessage } from 'node:util'
import type { z } from 'zod'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** A configuration that cannot be used; the message names the field and what is accepted. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The reason why a file cannot be read, without codes. */
export function fileFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { errno } = error as NodeJS.ErrnoException
  return errno === undefined ? error.message : getSystemErrorMessage(errno)
}

/** One line for each field that is wrong. Pure. */
export const faultsOf = (issues: readonly Issue[], parents: Path = []): string[] =>
  issues.flatMap((issue) => faultOf(issue, [...parents, ...issue.path]))

function faultOf(issue: Issue, path: Path): string[] {
  const at = (message: string, place: Path = path) => `${place.map(String).join('.')}: ${message}`
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => at('is not a known field', [...path, key]))
    case 'invalid_key':
      return issue.issues.map(({ message }) => at(`its name ${message}`))
    case 'invalid_value':
      return [at(`must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`)]
    case 'invalid_type':
      return [
        at(
          issue.message.endsWith('undefined')
            ? 'is required'
            : `must be ${KINDS[issue.expected] ?? issue.expected}`,
        ),
      ]
    case 'too_small':
      return [at(`must be at least ${issue.minimum}`)]
    case 'too_big':
      return [at(`must be at most ${issue.maximum}`)]
    default:
      return [at(issue.message)]
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  record: 'an object',
  object: 'an object',
}
