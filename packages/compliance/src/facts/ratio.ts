import { percentOf } from '@remit/contract/report-texts'

/** A printable share: integers, and the quotient with four decimals. */
export type Ratio = {
  readonly numerator: number
  readonly denominator: number
  readonly text: string
}

/** Null for a denominator of 0: neither 0 nor 1 would be true. */
export const ratioOf = (numerator: number, denominator: number): Ratio | null =>
  denominator === 0 ? null : { numerator, denominator, text: decimal(numerator, denominator, 4) }

/**
 * The quotient of integers with the given number of decimals, rounded half away from zero, without
 * floating point.
 */
export function decimal(numerator: number, denominator: number, places: number): string {
  return decimalOf(BigInt(numerator), BigInt(denominator), places)
}

/** The growth of a share, with four decimals; null if one has a denominator of 0. */
export function difference(now: Ratio | null, before: Ratio | null): string | null {
  if (!now || !before) return null
  const [a, b] = [BigInt(now.numerator), BigInt(now.denominator)]
  const [c, d] = [BigInt(before.numerator), BigInt(before.denominator)]
  return decimalOf(a * d - c * b, b * d, 4)
}

function decimalOf(numerator: bigint, denominator: bigint, places: number): string {
  const scaled = (numerator < 0n ? -numerator : numerator) * 10n ** BigInt(places)
  const rounded = (2n * scaled + denominator) / (2n * denominator)
  const digits = rounded.toString().padStart(places + 1, '0')
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
  return numerator < 0n && rounded !== 0n ? `-${text}` : text
}

/** Returns whether a share is at most `percent`; true for 0 of 0. */
export const isAtMostPercent = (part: number, whole: number, percent: number): boolean =>
  BigInt(part) * 100n <= BigInt(percent) * BigInt(whole)

/** A share with at most one decimal: `20%`, `33.3%`; `none` for a denominator of 0. */
export const percentText = (ratio: Ratio | null): string =>
  ratio === null ? 'none' : percentOf(ratio.numerator, ratio.denominator)
