import { trimWhitespace } from '../text.ts'

// Unambiguous: `\d+\.?\d*` would take quadratic time on a long invalid text.
const WHOLE = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/

/**
 * Parses a text that is a number with optional white space around it; undefined for any other text.
 */
export function wholeNumberText(text: string): number | undefined {
  const trimmed = trimWhitespace(text)
  return WHOLE.test(trimmed) ? Number(trimmed) : undefined
}

// Thousands in groups of three; a sign only if it is not part of a range or a compound word.
const NUMBER =
  /(?:(?<![\p{L}\p{N}.)])[-+\u2212])?(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+\u2212]?\d+)?/gu

/** Returns the first or last number of a text: `about 1,200.50 kg` has 1200.5. */
export function firstOrLastNumber(text: string, which: 'first' | 'last'): number | undefined {
  let found: string | undefined
  for (const [number] of text.matchAll(NUMBER)) {
    found = number
    if (which === 'first') break
  }
  if (found === undefined) return undefined
  return Number(found.replaceAll(',', '').replaceAll('\u2212', '-'))
}
