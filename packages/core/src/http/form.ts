import { fail, invalid } from '../base/errors.ts'

/** The media type of requests from OAuth clients (RFC 6749 appendix B). */
export const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

const strict = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses the fields of a form as strings. Repeated fields are rejected because they are ambiguous;
 * fields without a value count as omitted (RFC 6749 §3.2).
 */
export function parseForm(bytes: Uint8Array): Record<string, string> {
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(decode(bytes))) {
    if (fields.has(name)) throw invalid(name, 'is given more than once')
    if (value.includes('\0')) throw invalid(name, 'must not contain U+0000')
    fields.set(name, value)
  }
  return Object.fromEntries([...fields].filter(([, value]) => value !== ''))
}

function decode(bytes: Uint8Array): string {
  try {
    const text = strict.decode(bytes)
    // Escapes must be UTF-8 too; URLSearchParams would insert a replacement character.
    decodeURIComponent(text.replaceAll('+', ' '))
    return text
  } catch {
    throw fail('invalid_request', 'body: must be a UTF-8 form')
  }
}
