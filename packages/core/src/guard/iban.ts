import { HYPHENS } from './characters.ts'

// Lengths by country, from the SWIFT IBAN registry.
const LENGTHS =
  'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'

const LENGTH_OF = new Map(
  LENGTHS.split(' ').map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

const GROUP = 4
const HYPHEN = new RegExp(`[${HYPHENS}]`, 'u')

/**
 * Returns the length of an international bank account number (ISO 13616) at the start, including
 * what separates its groups; 0 for a wrong country, length or check digits.
 */
export function ibanLength(text: string): number {
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
