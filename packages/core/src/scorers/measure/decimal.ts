/** A number as its decimal digits say it: `digits` · 10 ** `exponent`. */
interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

const PARTS = /^(-?\d+)(?:\.(\d+))?(?:e([-+]\d+))?$/

/**
 * Tells whether numbers are whole multiples of one, by the decimal digits that stand for them. In
 * binary, 19.99 / 0.01 is 1998.9999999999998.
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

/** The shortest digits that only this number has: those of the JSON that it came from, if it fits. */
function toDecimal(value: number): Decimal {
  const [, whole = '', fraction = '', exponent = '0'] = PARTS.exec(String(value)) ?? []
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}

const tenTo = (exponent: number): bigint => 10n ** BigInt(exponent)
