import { numberFault } from '@remit/contract/json'

export type Id = string | number
export type Members = Readonly<Record<string, unknown>>

/** Ids `1` and `"1"` are different. */
export const keyOf = (id: Id): string => JSON.stringify(id)

export const isId = (value: unknown): value is Id =>
  typeof value === 'string' || Number.isSafeInteger(value)

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Runs of digits that may be those of an integer beyond 2^53. */
const MANY_DIGITS = /\d{16}/
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

/**
 * JSON in which an integer beyond 2^53 has all of its digits, as in the message that was decided:
 * `JSON.stringify` writes 2^60 as 1152921504606847000, which is another identifier.
 */
export function textOf(value: unknown): string {
  const text = JSON.stringify(value)
  return MANY_DIGITS.test(text) ? JSON.stringify(value, withAllDigits) : text
}

/** Parses JSON; a number that a double does not hold is kept as its text, for `textOf`. */
export function parseWithDigits(text: string): unknown {
  return LONG_NUMBER.test(text) ? JSON.parse(text, keepText) : JSON.parse(text)
}

/** Matches a part of every inexact number: all others have at most 15 digits and no exponent. */
const LONG_NUMBER = /\d[\d.]{15}|\d[eE]/

const keepText = (
  _: string,
  value: unknown,
  { source }: { readonly source?: string } = {},
): unknown =>
  typeof value === 'number' && source !== undefined && numberFault(source) !== null
    ? rawJSON(source)
    : value

const withAllDigits = (_: string, value: unknown): unknown =>
  Number.isInteger(value) && Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER
    ? rawJSON(String(BigInt(value as number)))
    : value

const OF_MESSAGES = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']
const OF_PARAMS = [
  '_meta',
  'name',
  'arguments',
  'uri',
  'cursor',
  'task',
  'taskId',
  'requestState',
  'inputResponses',
]

/** As readers do that ignore case, such as `encoding/json` of Go: it takes U+017F for an s. */
const folded = (name: string): string => name.toUpperCase().toLowerCase()

const OF_MESSAGES_FOLDED = new Set(OF_MESSAGES.map(folded))
const OF_PARAMS_FOLDED = new Set(OF_PARAMS.map(folded))

/**
 * A member that a server which ignores case would read as another one: it would carry out another request than
 * the decided one. Null if there is none. Pure.
 */
export const misspelledMember = (message: Members): string | null =>
  misspelledIn(message, OF_MESSAGES, OF_MESSAGES_FOLDED)

/** The same for a member of `params`. Pure. */
export const misspelledParameter = (params: Members): string | null =>
  misspelledIn(params, OF_PARAMS, OF_PARAMS_FOLDED)

/** The place of a name that such a server takes for an earlier one, so that its value counts. Pure. */
export function foldedTwice(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  const seen = Array.isArray(value) ? null : new Set<string>()
  for (const name of Object.keys(value)) {
    if (seen?.has(folded(name))) return name
    seen?.add(folded(name))
    const inner = foldedTwice((value as Members)[name])
    if (inner !== null) return `${name}.${inner}`
  }
  return null
}

function misspelledIn(
  members: Members,
  names: readonly string[],
  foldedNames: ReadonlySet<string>,
): string | null {
  for (const name of Object.keys(members))
    if (!names.includes(name) && foldedNames.has(folded(name))) return name
  return null
}
