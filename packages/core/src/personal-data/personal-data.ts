/** A part of a text, [start, end) in UTF-16 units. */
export interface TextSpan {
  readonly start: number
  readonly end: number
}

export interface PersonalData extends TextSpan {
  readonly kind: 'email' | 'card' | 'iban' | 'phone'
}

/** Between groups of digits, for a class of a regular expression with the flag `u`. */
const BLANKS = String.raw`\p{Zs}`
/** Likewise; the minus sign is one of them. */
const HYPHENS = String.raw`\p{Pd}\u2212`
/** Likewise, invisible between groups. */
const UNSEEN = String.raw`\u00ad\u200b\u2060`

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
export function findPersonalData(text: string): PersonalData[] {
  const emails = Array.from(findEmails(text), ([start, end]) => ({
    kind: 'email' as const,
    start,
    end,
  }))
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
  kind: PersonalData['kind'],
  pattern: RegExp,
  lengthOf: (match: string) => number,
): PersonalData[] {
  const found: PersonalData[] = []
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const length = lengthOf(match[0])
    if (length > 0) found.push({ kind, start: match.index, end: match.index + length })
    // A match may extend into the next number: continue after this one.
    pattern.lastIndex = match.index + Math.max(1, length)
  }
  return found
}

/** Not a port, and with a digit, in contrast to most paths with an @. */
const RAW = String.raw`(?!\d{1,5}[/?#])(?=[^\s:@]*\d)(?:(?!://)[^\s\\"'<>]){3,}`

/**
 * A password in a URL, the group `secret`. The last @ ends it: RFC 3986 has /, ? and # escaped in it, but people
 * forget that.
 */
export const PASSWORD_IN_URL: string =
  String.raw`[a-z][a-z0-9+.-]{1,20}://[^\s:/?#@[\\"'<>]{0,64}:` +
  String.raw`(?<secret>[^\s/?#"'<>]{3,}|${RAW})@(?=[A-Za-z0-9.[\]-])`
const URL_PASSWORD = new RegExp(`(?<![A-Za-z0-9])${PASSWORD_IN_URL}`, 'gid')

export function findUrlPasswords(text: string): TextSpan[] {
  if (!text.includes('://')) return []
  const found: TextSpan[] = []
  for (const { indices } of text.matchAll(URL_PASSWORD)) {
    const [start, end] = indices?.groups?.['secret'] ?? [0, 0]
    if (start >= (found.at(-1)?.end ?? 0)) found.push({ start, end })
  }
  return found
}

/** Returns those of `further` that share no part of the text with `found`. Linear after sorting. */
export function withoutOverlaps<Found extends TextSpan>(
  further: readonly Found[],
  found: readonly TextSpan[],
): Found[] {
  const known = found.toSorted((a, b) => a.start - b.start)
  let at = 0
  return further
    .toSorted((a, b) => a.start - b.start)
    .filter(({ start, end }) => {
      while ((known[at]?.end ?? Infinity) <= start) at++
      return (known[at]?.start ?? Infinity) >= end
    })
}

const BLANK = new RegExp(`[${BLANKS}]`, 'u')
const HYPHEN = new RegExp(`[${HYPHENS}]`, 'u')

const MIN_DIGITS = 13

/**
 * Returns the length of the longest card number at the start that ends at a group boundary, as a
 * date may follow. Its groups are separated by blanks or by hyphens.
 */
function cardLength(text: string): number {
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

// Lengths by country, from the SWIFT IBAN registry.
const LENGTHS =
  'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'

const LENGTH_OF = new Map(
  LENGTHS.split(' ').map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

const GROUP = 4

/**
 * Returns the length of an international bank account number (ISO 13616) at the start, including
 * the separators of its groups; 0 for a wrong country, length or check digits.
 */
function ibanLength(text: string): number {
  const length = LENGTH_OF.get(text.slice(0, 2).toUpperCase())
  if (length === undefined) return 0
  let end = 0
  let compact = ''
  let hyphens = 0
  for (; end < text.length && compact.length < length; end++) {
    const character = text.charAt(end)
    if (isLetterOrDigit(text.charCodeAt(end))) compact += character
    else if (HYPHEN.test(character) && compact.length !== GROUP * ++hyphens) return 0
  }
  if (compact.length < length || isLetterOrDigit(text.charCodeAt(end))) return 0
  // Identifiers have hyphens elsewhere.
  if (hyphens > 0 && hyphens < Math.ceil(length / GROUP) - 1) return 0
  const number = compact.toUpperCase()
  const isOfOneCase = compact === number || compact === compact.toLowerCase()
  return isOfOneCase && remainder(number.slice(4) + number.slice(0, 4)) === 1 ? end : 0
}

/** Of ASCII; NaN at the end of the text is neither. */
const isLetterOrDigit = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a)

/** ISO 7064, MOD 97-10: letters count from A = 10. */
function remainder(text: string): number {
  let rest = 0
  for (const character of text) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest
}

// `logo@2x.png` and `git@host` look like addresses, but are not.
const FILE_NAME = /\.(?:css|gif|ico|jpe?g|js|json|md|pdf|png|svg|ts|webp|zip)$/i
const LOCAL_PART = /[\p{L}\p{N}._%+-]{1,65}$/u
const DOMAIN = /[\p{L}\p{N}][\p{L}\p{N}.-]{0,252}\.\p{L}{2,24}(?![\p{L}\p{N}_-])/uy
const MAX_LOCAL = 64

/**
 * Yields the e-mail addresses of a text, [start, end). Searches from every @ in both directions,
 * which is linear.
 */
function* findEmails(text: string): Generator<readonly [start: number, end: number]> {
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    DOMAIN.lastIndex = at + 1
    if (!DOMAIN.test(text)) continue
    const end = DOMAIN.lastIndex
    const local = LOCAL_PART.exec(text.slice(Math.max(0, at - 2 * MAX_LOCAL), at))?.[0] ?? ''
    if (isAddress(local, text.slice(at + 1, end)) && !isUserinfo(text, at))
      yield [at - local.length, end]
  }
}

const USERINFO = /:\/\/[^\s/?#]*$/
const MAX_USERINFO = 256

/** Returns true if the text before the @ is the user information of a URL. */
const isUserinfo = (text: string, at: number): boolean =>
  USERINFO.test(text.slice(Math.max(0, at - MAX_USERINFO), at))

function isAddress(local: string, domain: string): boolean {
  if (local === '' || local === 'git' || local.length > MAX_LOCAL) return false
  if (local.startsWith('.') || local.endsWith('.') || FILE_NAME.test(domain)) return false
  return !local.includes('..') && !domain.includes('..')
}
