// White space of Python's `str.split`, for the reference values of BLEU and chrF.
const PYTHON_WHITESPACE =
  /[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

const PYTHON_WHITESPACE_END = new RegExp(`${PYTHON_WHITESPACE.source.slice(0, -1)}$`)

/** Removes trailing white space as Python's `str.rstrip` does. */
export function cutEnd(text: string): string {
  let end = text.length
  while (end > 0 && PYTHON_WHITESPACE_END.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Splits a text into words as Python's `str.split` does. */
export function splitLikePython(text: string): string[] {
  const words = text.split(PYTHON_WHITESPACE)
  return words.filter((word) => word !== '')
}

const ASCII_WORD = /[a-z0-9]+/g
const UNICODE_WORD = /[\p{L}\p{M}\p{N}]+/gu

/** Returns words as in the ROUGE reference: lower case, ASCII letters and digits only. */
export const asciiWords = (text: string): string[] => text.toLowerCase().match(ASCII_WORD) ?? []

/** Returns lower-case words of letters, marks and digits of any script. */
export const unicodeWords = (text: string): string[] => text.toLowerCase().match(UNICODE_WORD) ?? []

/** Returns words regardless of case and composition, to search for a text. */
export const foldedWords = (text: string, fold: (text: string) => string): string[] =>
  fold(text.normalize('NFC')).normalize('NFC').match(UNICODE_WORD) ?? []
