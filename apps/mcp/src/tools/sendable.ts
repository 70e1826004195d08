import { isMembers } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'

/**
 * A definition as Remit takes JSON: numbers that a double cannot hold exactly, such as the bounds of 64-bit
 * integers in a schema, become texts, and U+0000 and half surrogate pairs become visible. Pure.
 */
export const sendable = (definition: Members): Members => converted(definition) as Members

function converted(value: unknown): unknown {
  if (typeof value === 'number')
    return Math.abs(value) > Number.MAX_SAFE_INTEGER ? String(value) : value
  if (typeof value === 'string') return cleaned(value)
  if (Array.isArray(value)) return value.map(converted)
  if (!isMembers(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [cleaned(name), converted(member)]),
  )
}

const cleaned = (text: string): string => text.toWellFormed().replaceAll('\0', '\u2400')
