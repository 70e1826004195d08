import { BLANKS, HYPHENS } from './characters.ts'

const BLANK = new RegExp(`[${BLANKS}]`, 'u')
const HYPHEN = new RegExp(`[${HYPHENS}]`, 'u')

const MIN_DIGITS = 13

/**
 * Returns the length of the longest card number at the start that ends at a group boundary, as a
 * date may follow. Its groups are separated by blanks or by hyphens.
 */
export function cardLength(text: string): number {
  let digits = ''
  const borders: { readonly end: number; readonly digits: string }[] = []
  let separators = 0
  for (let end = 0; end <= text.length; end++) {
    const sign = text.charAt(end)
    if (sign >= '0' && sign <= '9') {
      digits += sign
      continue
    }
    if (digits.length >= MIN_DIGITS) borders.push({ end, digits })
    if (BLANK.test(sign)) separators |= 1
    if (HYPHEN.test(sign)) separators |= 2
    if (separators === 3) break
  }
  return borders.findLast((border) => isCard(border.digits))?.end ?? 0
}

/** Checks 13 to 19 digits: the range of an issuer and the Luhn check digit. */
function isCard(digits: string): boolean {
  // Mastercard and American Express have fixed lengths; the others vary.
  if (/^(?:5[1-5]|2[2-7])/.test(digits) && digits.length !== 16) return false
  if (/^3[47]/.test(digits) && digits.length !== 15) return false
  return luhn(digits)
}

/** ISO/IEC 7812-1, annex B: every second digit from the right is doubled. */
function luhn(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const doubled = i % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
