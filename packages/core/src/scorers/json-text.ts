import { z } from 'zod'
import { Unscorable } from './scorer.ts'
import type { FieldName } from './scorer.ts'
import { trimWhitespace } from './text.ts'

export const Extract = z
  .enum(['none', 'fence'])
  .default('none')
  .describe('fence: a text that is one fenced Markdown code block is replaced by its content')
export type Extract = z.output<typeof Extract>

// Functions over a value recurse; `JSON.parse` accepts far more levels than the stack does.
const MAX_DEPTH = 1_000

/** A JSON value, or undefined for none. */
export type Read = { readonly value: unknown } | undefined

/**
 * Returns the JSON value of a field: a text is parsed (RFC 8259: no byte order mark, no NaN, no
 * trailing comma), other values are returned unchanged. Throws `Unscorable` for too deep nesting.
 */
export function extractJson(field: FieldName, given: unknown, extract: Extract): Read {
  const read = typeof given === 'string' ? parse(unfenced(given, extract)) : { value: given }
  if (read && isDeeper(read.value, MAX_DEPTH))
    throw new Unscorable('limit_exceeded', `${field} is nested deeper than 1,000 levels`, field)
  return read
}

function parse(text: string): Read {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

const OPENING = /^(`{3,}|~{3,})[^\n`]*\n/

/**
 * Returns the content of a text that is one fenced block (CommonMark 4.5). A fence inside a JSON
 * string is not on its own line, so it never ends the block.
 */
function unfenced(text: string, extract: Extract): string {
  if (extract === 'none') return text
  const trimmed = trimWhitespace(text)
  const [opening, fence = ''] = OPENING.exec(trimmed) ?? []
  if (opening === undefined) return text
  const lines = trimmed.slice(opening.length).split('\n')
  const isClosing = (line: string) => {
    const bare = trimWhitespace(line)
    return bare.length >= fence.length && bare === fence.charAt(0).repeat(bare.length)
  }
  const closing = lines.findIndex(isClosing)
  return closing === lines.length - 1 ? lines.slice(0, -1).join('\n') : text
}

/**
 * Returns true if arrays and objects are nested in more than `levels` levels. Iterative, not
 * recursive.
 */
export function isDeeper(value: unknown, levels: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter((item) => typeof item === 'object' && item !== null)
    if (containers.length > 0 && depth === levels) return true
    level = containers.flatMap((item) => Object.values(item as Readonly<Record<string, unknown>>))
  }
  return false
}
