import { isUtf8 } from 'node:buffer'
import type { ViewName } from '../view.ts'
import type { Survey } from './survey.ts'

/** A span [start, end) of the original and its decoded text. */
export interface Payload {
  readonly name: ViewName
  readonly text: string
  readonly start: number
  readonly end: number
}

const MIN_TEXT = 6

interface Encoding {
  readonly name: ViewName
  /** The pattern of texts in this encoding; scanned from left to right, each unit once. */
  readonly pattern: RegExp
  readonly isPossible: (seen: Survey) => boolean
  readonly decode: (match: string) => string | null
}

const NUMBER_UP_TO_127 = String.raw`(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])`

const ENCODINGS: readonly Encoding[] = [
  {
    name: 'hex',
    pattern: /(?<![0-9a-zA-Z])(?:0x)?(?:[0-9a-fA-F]{2}){8,}(?![0-9a-zA-Z])/g,
    isPossible: ({ hex }) => hex >= 16,
    decode: (match) => fromBytes(Buffer.from(match.replace(/^0x/, ''), 'hex')),
  },
  {
    name: 'hex',
    pattern:
      /(?<![0-9a-zA-Z])(?:0x)?[0-9a-fA-F]{2}(?:[ ,:]{1,2}(?:0x)?[0-9a-fA-F]{2}){7,}(?![0-9a-zA-Z])/g,
    isPossible: ({ hex }) => hex >= 16,
    decode: (match) => fromBytes(Buffer.from(match.replace(/0x|[ ,:]/g, ''), 'hex')),
  },
  {
    name: 'base32',
    pattern: /(?<![0-9a-zA-Z])[A-Z2-7]{16,}={0,6}(?![0-9a-zA-Z])/g,
    isPossible: ({ base32 }) => base32 >= 16,
    decode: fromBase32,
  },
  {
    name: 'base64',
    pattern: /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{4,})*={0,2}/g,
    // Long words and paths of lower-case letters are skipped.
    isPossible: ({ base64 }) => base64 >= 16,
    decode: (match) => (/[A-Z0-9]/.test(match) ? fromBytes(Buffer.from(match, 'base64')) : null),
  },
  {
    name: 'binary',
    pattern: /(?<!\d)[01]{8}(?:[ ,]?[01]{8}){5,}(?!\d)/g,
    isPossible: ({ bits }) => bits >= 48,
    decode: (match) => fromNumbers(match.match(/[01]{8}/g), 2),
  },
  {
    name: 'octal',
    pattern: /(?<![\d\\])\\?[01][0-7]{2}(?:[ ,\\]{1,2}[01]?[0-7]{2}){7,}(?!\d)/g,
    isPossible: ({ numbers }) => numbers >= 8,
    decode: (match) => fromNumbers(match.match(/[0-7]{2,3}/g), 8),
  },
  {
    name: 'decimal',
    pattern: new RegExp(
      String.raw`(?<!\d)${NUMBER_UP_TO_127}(?:[ ,]{1,2}${NUMBER_UP_TO_127}){7,}(?!\d)`,
      'g',
    ),
    isPossible: ({ numbers }) => numbers >= 8,
    decode: (match) => fromNumbers(match.match(/\d+/g), 10),
  },
  {
    name: 'a1z26',
    pattern: /(?<!\d)\d{1,2}(?:[-. ]\d{1,2}){4,}(?:[ ,/|]{1,3}\d{1,2}(?:[-.]\d{1,2})*)*(?!\d)/g,
    isPossible: ({ numbers }) => numbers >= 5,
    decode: fromLetterNumbers,
  },
  {
    name: 'morse',
    pattern: /(?<![.\-\w])[.-]{1,5}(?:(?: \/ |[ /])[.-]{1,5}){7,}(?![.\-\w])/g,
    isPossible: ({ morse }) => morse >= 8,
    decode: fromMorse,
  },
  {
    name: 'braille',
    pattern: /[\u2800-\u283f](?:[ \u2800-\u283f]){5,}/g,
    isPossible: ({ dots }) => dots,
    decode: fromBraille,
  },
]

/**
 * Returns every encoded payload that decodes to readable text. Linear, because attempts do not
 * overlap; a limit on the attempts would let a few paths and hashes hide later payloads.
 */
export function findPayloads(text: string, seen: Survey): Payload[] {
  const found: Payload[] = []
  for (const { name, pattern, isPossible, decode } of ENCODINGS) {
    if (!isPossible(seen)) continue
    for (const match of text.matchAll(pattern)) {
      const decoded = decode(match[0])
      if (decoded === null || !isReadable(decoded)) continue
      found.push({ name, text: decoded, start: match.index, end: match.index + match[0].length })
    }
  }
  return found
}

/** Returns true for mostly letters and spaces, and hardly any non-printing characters. */
function isReadable(text: string): boolean {
  if (text.length < MIN_TEXT) return false
  let printable = 0
  let letters = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 0x20 ? unit < 0x7f || unit >= 0xa0 : unit === 9 || unit === 10 || unit === 13)
      printable++
    if (((unit | 32) >= 0x61 && (unit | 32) <= 0x7a) || unit >= 0xc0) letters++
  }
  return printable >= text.length * 0.97 && letters >= text.length / 2
}

/** Exceptions would dominate the time: hardly any long word is a payload. */
const fromBytes = (bytes: Buffer): string | null => (isUtf8(bytes) ? bytes.toString() : null)

function fromNumbers(digits: readonly string[] | null, base: number): string | null {
  return digits && fromBytes(Buffer.from(digits.map((number) => Number.parseInt(number, base))))
}

/** RFC 4648 section 6. */
function fromBase32(match: string): string | null {
  const bytes: number[] = []
  let bits = 0
  let buffer = 0
  for (const letter of match.replace(/=+$/, '')) {
    buffer = (buffer << 5) | 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter)
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes.push((buffer >> bits) & 0xff)
    buffer &= (1 << bits) - 1
  }
  return fromBytes(Buffer.from(bytes))
}

function fromLetterNumbers(match: string): string | null {
  const separator = /\d([-. ])/.exec(match)?.[1] ?? '-'
  const words = match.split(separator === ' ' ? /[,/|]+/ : /[ ,/|]+/)
  const letters = words.map((word) => (word.match(/\d+/g) ?? []).map(Number))
  if (letters.flat().some((number) => number < 1 || number > 26)) return null
  return letters
    .map((word) => word.map((number) => String.fromCharCode(96 + number)).join(''))
    .join(' ')
}

const MORSE = new Map(
  'a.- b-... c-.-. d-.. e. f..-. g--. h.... i.. j.--- k-.- l.-.. m-- n-. o--- p.--. q--.- r.-. s... t- u..- v...- w.-- x-..- y-.-- z--.. 1.---- 2..--- 3...-- 4....- 5..... 6-.... 7--... 8---.. 9----. 0-----'
    .split(' ')
    .map((entry) => [entry.slice(1), entry.slice(0, 1)]),
)

function fromMorse(match: string): string {
  return match
    .split(/\s*\/\s*/)
    .map((word) => Array.from(word.split(' '), (sign) => MORSE.get(sign) ?? '').join(''))
    .join(' ')
}

const BRAILLE = '⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵'

function fromBraille(match: string): string {
  return Array.from(match, (sign) => {
    const letter = BRAILLE.indexOf(sign)
    return letter < 0 ? ' ' : String.fromCharCode(97 + letter)
  }).join('')
}
