const NUMBER = /^-?(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/
const DIGITS = /^-?\d+$/
/** Of doubles that no other double prints with. */
const MOST_DIGITS = 17
const MAX_SHOWN = 40

/**
 * Returns why a number of a JSON text is refused, as a sentence for the sender; null if it is read as the
 * nearest double without the loss of a digit that a double can hold (RFC 7493 section 2.2):
 *
 * - A number with a fraction is the nearest double for every reader. Its further digits are noise of the
 *   sender, such as the 17 digits of encoders that do not look for the shortest form.
 * - An integer beyond 2^53 may be an identifier, so it must be the double itself. With an exponent or a
 *   decimal point, it may also be a decimal form of the double in up to 17 digits.
 * - Nothing becomes infinite, or zero.
 *
 * Invalid number literals are left to the JSON parser.
 */
export function numberFault(literal: string): string | null {
  const value = Number(literal)
  if (Number.isNaN(value)) return null
  const shown = literal.length > MAX_SHOWN ? `${literal.slice(0, MAX_SHOWN)}…` : literal
  if (!Number.isFinite(value))
    return `The number ${shown} is beyond the range of a 64-bit float; send it as a string.`
  const { digits, power } = decimalOf(literal)
  if (value === 0)
    return digits === ''
      ? null
      : `The number ${shown} is too small for a 64-bit float; send 0, or the number as a string.`
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER || power < 0) return null
  const exact = decimalOf(String(BigInt(value)))
  if (digits === exact.digits && power === exact.power) return null
  if (!DIGITS.test(literal) && digits.length <= MOST_DIGITS) {
    const printed = decimalOf(value.toPrecision(digits.length))
    if (digits === printed.digits && power === printed.power) return null
  }
  return `The integer ${shown} is not exact as a 64-bit float; send it as a string.`
}

interface Decimal {
  /** The significant ones; empty for zero. */
  readonly digits: string
  /** The power of ten of the last digit. */
  readonly power: number
}

function decimalOf(literal: string): Decimal {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(literal) ?? []
  const all = (whole + fraction).replace(/^0+/, '')
  const digits = all.slice(0, endOfDigits(all))
  return { digits, power: Number(exponent) - fraction.length + all.length - digits.length }
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
