import { within } from './characters.ts'
import type { Ranges } from './characters.ts'

// Letter-like shapes for which Unicode defines no plain letter.
const STYLED: Ranges = [
  [0x1f150, 0x1f169],
  [0x1f170, 0x1f189],
  [0x1f1e6, 0x1f1ff],
]
const SMALL_CAPITALS = new Map(
  [...'ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢzɡgɑa'.matchAll(/(.)(.)/gu)].map(
    ([, shape = '', letter = '']) => [shape, letter],
  ),
)
const PUNCTUATION = new Map(
  ["'‘’‚‛′´", '"“”„‟″«»', '-‐‑‒–—―−', '|¦ǀ∣', ' _', 'iı'].flatMap(([plain = '', ...others]) =>
    others.map((other) => [other, plain] as const),
  ),
)
const ALPHABETIC = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u
const MARKS = /\p{M}/gu
// Combining accents of any script; those of one script, such as Indic vowels, are part of its
// words.
const GENERIC_MARKS: Ranges = [
  [0x300, 0x36f],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x20d0, 0x20ff],
  [0xfe20, 0xfe2f],
]

/** The normalized form of a visible character. */
export interface Folded {
  /** Empty for a mark, which is skipped. */
  readonly text: string
  /** True for a styled letter or digit: full-width, circled, mathematical, small capitals. */
  readonly styled: boolean
}

/**
 * Normalizes one visible character: its compatibility form (NFKC) in lower case, Latin, Greek and
 * Cyrillic letters without accents, one kind of quotes and dashes, and a space for `_`.
 */
export function foldCharacter(character: string): Folded {
  if (isGenericMark(character)) return { text: '', styled: false }
  const sign = PUNCTUATION.get(character)
  if (sign !== undefined) return { text: sign, styled: false }
  const compatible = Array.from(character.normalize('NFKC').toLowerCase(), plainShape)
    .filter((part) => !isGenericMark(part))
    .join('')
  const decomposed = compatible.normalize('NFD')
  const text = ALPHABETIC.test(decomposed) ? decomposed.replace(MARKS, '') : compatible
  const changed = compatible !== character.normalize('NFC').toLowerCase()
  return { text, styled: changed && /^[a-z0-9]/.test(text) }
}

/** Returns the letter or sign that a character looks like, beyond the rules of Unicode. */
const plainShape = (character: string): string =>
  PUNCTUATION.get(character) ??
  SMALL_CAPITALS.get(character) ??
  styledLetter(character.codePointAt(0) ?? 0) ??
  character

const isGenericMark = (character: string): boolean =>
  within(character.codePointAt(0) ?? 0, GENERIC_MARKS)

function styledLetter(code: number): string | undefined {
  for (const [first, last] of STYLED) {
    if (code >= first && code <= last) return String.fromCharCode(0x61 + code - first)
  }
  return undefined
}
