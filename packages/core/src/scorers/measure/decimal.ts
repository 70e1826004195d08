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
