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
