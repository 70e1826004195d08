const NUMBER = /^-?(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/

/**
 * Returns true if the double nearest to `literal` prints as the same decimal number, so that other
 * readers of the canonical text see the value of the sender (RFC 7493 section 2.2).
 *
 * Integers between 2^53 and 10^21 are rejected in any notation, because canonical JSON prints them
 * in plain digits, which suggest an exactness that doubles do not have. Invalid number literals are
 * left to the JSON parser.
 */
export function numberSurvives(literal: string): boolean {
  const value = Number(literal)
  if (Number.isNaN(value)) return true
  if (!Number.isFinite(value)) return false
  const size = Math.abs(value)
  if (size > Number.MAX_SAFE_INTEGER && size < 1e21) return false
  return decimalOf(literal) === decimalOf(String(value))
}

/** Normalizes a decimal number: significant digits and the power of ten of the last one. */
function decimalOf(literal: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(literal) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.slice(0, endOfDigits(digits))
  if (significant === '') return '0'
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** Returns the position of the trailing zeros. A regular expression would be quadratic. */
function endOfDigits(digits: string): number {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return end
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g

/** Returns the first name that an object of this valid JSON text has twice, for error messages. */
export function duplicateName(text: string): string | undefined {
  const open: Set<string>[] = []
  let last = ''
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':') {
      const name = JSON.parse(last) as string
      const names = open.at(-1)
      if (names?.has(name)) return name
      names?.add(name)
    }
    last = token
  }
  return undefined
}

/** Returns true if the text, if it is JSON, has more than `most` different names. */
export function hasMoreNames(source: Buffer, most: number): boolean {
  const names = new Set<string>()
  let start = 0
  let end = 0
  for (let at = 0; at < source.length; at++) {
    const byte = source[at]
    if (byte === 0x22) {
      start = at + 1
      for (at++; at < source.length && source[at] !== 0x22; at++) if (source[at] === 0x5c) at++
      end = at
    } else if (byte === 0x3a) {
      names.add(source.toString('latin1', start, end))
      if (names.size > most) return true
    }
  }
  return false
}
