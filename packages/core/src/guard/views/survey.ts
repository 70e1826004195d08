/** The longest runs of units in a text that encodings and disguises are made of. */
export interface Survey {
  /** Runs of base64 units, base32 units, hexadecimal digits, and of 0 and 1. */
  readonly base64: number
  readonly base32: number
  readonly hex: number
  readonly bits: number
  /** Groups of digits, and of dots and dashes, separated only by single signs or spaces. */
  readonly numbers: number
  readonly morse: number
  /** Braille. */
  readonly dots: boolean
  /** Total of printable ASCII signs other than letters and digits. */
  readonly signs: number
}

const WORD = 1
const HEX = 2
const UPPER_BASE32 = 4
const DIGIT = 8
const BIT = 16
const BASE64 = 32
const LOWER = 64
const SPACE = 128
/** Units of `0xc0ffee`. */
const IN_HEX = 256
const CLASS = new Uint16Array(0x80)
const mark = (characters: string, flags: number) => {
  for (const character of characters) {
    const unit = character.charCodeAt(0)
    CLASS[unit] = (CLASS[unit] ?? 0) | flags
  }
}
mark('abcdefghijklmnopqrstuvwxyz', WORD | BASE64 | LOWER)
mark('ABCDEFGHIJKLMNOPQRSTUVWXYZ', WORD | BASE64 | UPPER_BASE32)
mark('0123456789', WORD | BASE64 | DIGIT | HEX)
mark('234567', UPPER_BASE32)
mark('abcdefABCDEF', HEX)
mark('0123456789abcdefABCDEFx', IN_HEX)
mark('01', BIT)
mark('+/_-', BASE64)
mark(' \t\r\n', SPACE)

/** Scans a text once, so that impossible encodings can be skipped. */
export function survey(text: string): Survey {
  let [mostBase64, mostBase32, mostHex, mostBits] = [0, 0, 0, 0]
  let [mostNumbers, mostMorse] = [0, 0]
  let [base64, base32, hex, bits, numbers, gap, morse] = [0, 0, 0, 0, 0, 0, 0]
  let [dots, signs] = [0, 0]
  let before = SPACE
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const kind = unit < 0x80 ? (CLASS[unit] ?? 0) : 0
    // The most frequent case: after a lower-case letter, only two counts change.
    if (kind & before & LOWER) {
      if (++base64 > mostBase64) mostBase64 = base64
      // Without a branch on the letter, which processors cannot predict.
      hex = (hex + ((kind & HEX) >> 1)) & -((kind & IN_HEX) >> 8)
      if (hex > mostHex) mostHex = hex
      continue
    }
    base64 = kind & BASE64 ? base64 + 1 : 0
    base32 = kind & UPPER_BASE32 ? base32 + 1 : 0
    if (base64 > mostBase64) mostBase64 = base64
    if (base32 > mostBase32) mostBase32 = base32
    if (kind & HEX) {
      if (++hex > mostHex) mostHex = hex
    } else if (kind & WORD && unit !== 0x78) hex = 0
    if (kind & WORD) {
      if (kind & BIT) {
        if (++bits > mostBits) mostBits = bits
      } else bits = 0
      if (kind & DIGIT) {
        if (!(before & DIGIT) && ++numbers > mostNumbers) mostNumbers = numbers
        gap = 0
      } else numbers = 0
      morse = 0
    } else {
      if (++gap > 3) numbers = 0
      if (unit === 0x2e || unit === 0x2d) {
        signs++
        if (before & SPACE && ++morse > mostMorse) mostMorse = morse
      } else if (!(kind & SPACE)) {
        if (unit > 0x20 && unit < 0x7f) signs++
        else if (unit >= 0x2800 && unit <= 0x283f) dots++
        if (unit !== 0x2f) morse = 0
      }
    }
    before = kind
  }
  return {
    base64: mostBase64,
    base32: mostBase32,
    hex: mostHex,
    bits: mostBits,
    numbers: mostNumbers,
    // The first group of a text may have no space before it.
    morse: mostMorse + 1,
    dots: dots > 0,
    signs,
  }
}
