import { fail, invalid } from '../base/errors.ts'

/** The media type in which OAuth clients send their requests (RFC 6749 appendix B). */
export const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

const strict = new TextDecoder('utf-8', { fatal: true })

/**
 * The fields of a form, each a string. One that is given twice is refused, since nobody can say which
 * was meant; one without a value counts as left out (RFC 6749 §3.2).
 */
export function parseForm(bytes: Uint8Array): Record<string, string> {
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(decode(bytes))) {
    if (fields.has(name)) throw invalid(name, 'is given twice')
    if (value.includes('\0')) throw invalid(name, 'must not have U+0000')
    fields.set(name, value)
  }
  return Object.fromEntries([...fields].filter(([, value]) => value !== ''))
}

function decode(bytes: Uint8Array): string {
  try {
    const text = strict.decode(bytes)
    // What is escaped must be UTF-8 too; URLSearchParams would put a replacement character.
    decodeURIComponent(text.replaceAll('+', ' '))
    return text
  } catch {
    throw fail('invalid_request', 'body: must be a form in UTF-8')
  }
}
