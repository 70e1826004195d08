// What Python's `str.split` takes for white space: the reference values of BLEU and chrF need it.
const PYTHON_WHITESPACE =
  /[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

const PYTHON_WHITESPACE_END = new RegExp(`${PYTHON_WHITESPACE.source.slice(0, -1)}$`)

/** A text without white space at its end, as Python's `str.rstrip` cuts it. */
export function cutEnd(text: string): string {
  let end = text.length
  while (end > 0 && PYTHON_WHITESPACE_END.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** The words of a text as Python's `str.split` cuts them. */
export function splitLikePython(text: string): string[] {
  const words = text.split(PYTHON_WHITESPACE)
  return words.filter((word) => word !== '')
}

const ASCII_WORD = /[a-z0-9]+/g
const UNICODE_WORD = /[\p{L}\p{M}\p{N}]+/gu

/** Words as ROUGE's reference takes them: lower case, ASCII letters and digits only. */
export const asciiWords = (text: string): string[] => text.toLowerCase().match(ASCII_WORD) ?? []

/** Lower-case words of letters, marks and digits of any script. */
export const unicodeWords = (text: string): string[] => text.toLowerCase().match(UNICODE_WORD) ?? []

/** Words without regard to case and composition, for finding a text again. */
export const foldedWords = (text: string, fold: (text: string) => string): string[] =>
  fold(text.normalize('NFC')).normalize('NFC').match(UNICODE_WORD) ?? []
