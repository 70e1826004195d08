import { cardLength } from './card.ts'
import { BLANKS, HYPHENS, UNSEEN } from './characters.ts'
import type { Detection } from './detection.ts'
import { findEmails } from './email.ts'
import { ibanLength } from './iban.ts'
import { findUrlPasswords, withoutOverlaps } from './secrets.ts'

const GAP = `${BLANKS}${HYPHENS}${UNSEEN}`
// All start at a boundary, so that a long run is scanned once.
const CARD = new RegExp(
  String.raw`(?<![\p{L}\p{N}_.${HYPHENS}])[2-6]\d{3}(?:[${GAP}]?\d){9,15}(?![\p{L}_\d])`,
  'gu',
)
const IBAN = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])[A-Za-z]{2}\d{2}(?:[${GAP}]?[A-Za-z0-9]){11,30}`,
  'gu',
)

// E.164 with a country code: 8 to 15 digits, at most two signs between two of them.
const INTERNATIONAL = new RegExp(
  String.raw`(?<![\p{L}\p{N}_+])\+[1-9](?:[.()/${GAP}]{0,2}\d){7,14}(?!\d)`,
  'gu',
)
const NORTH_AMERICAN = new RegExp(
  String.raw`(?<![\p{L}\p{N}_]|\+1[.${GAP}]?)\(\d{3}\)[.${GAP}]?\d{3}[.${GAP}]\d{4}(?![\p{N}])`,
  'gu',
)

/**
 * Finds e-mail addresses, telephone numbers, payment cards and bank accounts with valid check
 * digits. Linear.
 */
export function findPersonalData(text: string): Detection[] {
  const emails = Array.from(findEmails(text), ([start, end]) => detection('email', start, end))
  return [
    // The end of a password in a URL and the host look like an address.
    ...withoutOverlaps(emails, findUrlPasswords(text)),
    ...findNumbers(text, 'card', CARD, cardLength),
    ...findNumbers(text, 'iban', IBAN, ibanLength),
    ...findNumbers(text, 'phone', INTERNATIONAL, ({ length }) => length),
    ...findNumbers(text, 'phone', NORTH_AMERICAN, ({ length }) => length),
  ]
}

/** `lengthOf` returns the length of the number in a match; 0 for none. */
function findNumbers(
  text: string,
  kind: string,
  pattern: RegExp,
  lengthOf: (match: string) => number,
): Detection[] {
  const found: Detection[] = []
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const length = lengthOf(match[0])
    if (length > 0) found.push(detection(kind, match.index, match.index + length))
    // A match may extend into the next number: continue after this one.
    pattern.lastIndex = match.index + Math.max(1, length)
  }
  return found
}

const detection = (kind: string, start: number, end: number): Detection => ({
  detector: `pii.${kind}`,
  category: 'pii',
  severity: 'medium',
  start,
  end,
  view: 'original',
  reason: `pii:${kind}`,
  replacement: `[REDACTED:${kind}]`,
})
