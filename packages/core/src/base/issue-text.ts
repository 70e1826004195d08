import type { z } from 'zod'

type Issue = z.core.$ZodIssue

/**
 * Parse options for input whose errors `fieldErrors` describes. Zod's own messages are left empty, so a
 * message is always the schema's, and issues keep their input.
 */
export const FOR_FIELD_ERRORS = { error: () => '', reportInput: true } as const

/** Returns true if the schema has its own message. */
export const hasOwnMessage = ({ message }: Issue): boolean => message !== ''

/**
 * Returns the message for an issue in terms of JSON: the message of the schema, or the accepted
 * values.
 */
export function issueText(issue: Issue): string {
  if (hasOwnMessage(issue)) return issue.message
  switch (issue.code) {
    case 'invalid_type':
      return mustBe([issue.expected], receivedOf(issue))
    case 'invalid_value':
      return `must be ${anyOf(issue.values.map(shown))}`
    case 'too_big':
      return `must ${size(issue.origin, issue.exact ? '' : 'at most', issue.maximum)}`
    case 'too_small':
      if (issue.minimum === 1 && !issue.exact && UNITS[issue.origin]) return 'must not be empty'
      return `must ${size(issue.origin, issue.exact ? '' : 'at least', issue.minimum)}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_format':
      return issue.pattern ? `must match ${issue.pattern}` : `must be a valid ${issue.format}`
    case 'invalid_union':
      return 'options' in issue && issue.options
        ? `must be ${anyOf(issue.options.map(shown))}`
        : 'is not valid'
    default:
      return 'is not valid'
  }
}

/** Returns the message for a value of a type that is not accepted. */
export function mustBe(types: readonly string[], received: string | null): string {
  const taken = anyOf([...new Set(types)].map(named))
  if (received === 'undefined') return `is required: ${taken}`
  // A number with a fraction is still a number.
  const isTaken = received === 'number' && types.includes('int')
  return received === null || isTaken
    ? `must be ${taken}`
    : `must be ${taken}, not ${named(received)}`
}

/** Returns the JSON type of an issue's value; `undefined` if it is missing. */
export function receivedOf({ input }: Issue): string {
  if (input === null) return 'null'
  return Array.isArray(input) ? 'array' : typeof input
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'a boolean',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const named = (type: string): string => NAMES[type] ?? type

const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
}

function size(origin: string, bound: string, count: number | bigint): string {
  const units = UNITS[origin]
  const text = [bound, String(count)].filter((word) => word !== '').join(' ')
  return units ? `have ${text} ${units[Number(count) === 1 ? 0 : 1]}` : `be ${text}`
}

const shown = (value: unknown): string =>
  typeof value === 'string' && value !== '' ? value : JSON.stringify(value)

const anyOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
