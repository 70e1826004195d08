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

/** A number in decimal form: `digits` · 10 ** `exponent`. */
interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

const PARTS = /^(-?\d+)(?:\.(\d+))?(?:e([-+]\d+))?$/

/**
 * Checks that numbers are multiples of a divisor, in decimal arithmetic. In binary, 19.99 / 0.01 is
 * 1998.9999999999998.
 */
export function isMultipleOf(divisor: number): (value: number) => boolean {
  const { digits, exponent } = toDecimal(divisor)
  return (value) => {
    if (!Number.isFinite(value)) return false
    if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0
    const given = toDecimal(value)
    const least = Math.min(exponent, given.exponent)
    return (
      (given.digits * tenTo(given.exponent - least)) % (digits * tenTo(exponent - least)) === 0n
    )
  }
}

/** Returns the shortest decimal digits of a number, which are those of its JSON text if it fits. */
function toDecimal(value: number): Decimal {
  const [, whole = '', fraction = '', exponent = '0'] = PARTS.exec(String(value)) ?? []
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}

const tenTo = (exponent: number): bigint => 10n ** BigInt(exponent)

/** Assigns a small number to each distinct text, so that comparisons are cheap. */
export class Numbering {
  readonly #numbers = new Map<string, number>()

  get size(): number {
    return this.#numbers.size
  }

  of(text: string): number {
    return numberOf(this.#numbers, text)
  }

  all(texts: readonly string[]): Int32Array {
    const known = this.#numbers
    const numbers = new Int32Array(texts.length)
    for (let at = 0; at < texts.length; at++) numbers[at] = numberOf(known, texts[at] ?? '')
    return numbers
  }
}

function numberOf(known: Map<string, number>, text: string): number {
  const number = known.get(text)
  if (number !== undefined) return number
  const next = known.size
  known.set(text, next)
  return next
}
