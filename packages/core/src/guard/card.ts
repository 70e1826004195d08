/**
 * Returns the length of the longest card number at the start that ends at a group boundary, as a
 * date may follow.
 */
export function cardLength(text: string): number {
  for (let end = text.length; end >= 13; end--) {
    const atBorder = end === text.length || text[end] === ' ' || text[end] === '-'
    if (atBorder && isCard(text.slice(0, end))) return end
  }
  return 0
}

/**
 * Checks 13 to 19 digits in groups of one kind: the range of an issuer and the Luhn check digit.
 */
function isCard(text: string): boolean {
  const digits = text.replace(/[ -]/g, '')
  if (digits.length < 13 || (text.includes(' ') && text.includes('-'))) return false
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
