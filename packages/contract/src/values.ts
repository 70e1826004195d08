const ASCII_NAME = /^[!-)+-~](?:[ -)+-~]{0,254}[!-)+-~])?$/
/**
 * No character that a reader cannot see: two names that look the same must be the same. `DI` is Unicode's
 * `Default_Ignorable_Code_Point` (UAX #44); U+2800 is the blank Braille pattern.
 */
const UNICODE_NAME = /^[^\p{Cc}\p{Cf}\p{Cs}\p{DI}\p{Zl}\p{Zp}[\p{Zs}--\x20]\u2800*]{1,256}$/v
const PLAIN_TEXT = /^[^\p{Cc}\p{Cf}\p{Cs}]+$/u
const OUTER_BLANK = /^\s|\s$/u

/** Agent ids, actions, parts of resources and approvers as `primitives.ts` describes them. */
export const isName = (text: string): boolean =>
  ASCII_NAME.test(text) || (UNICODE_NAME.test(text) && isTidy(text))

/** A line of text for people, which is not compared with another one. */
export const isLine = (text: string): boolean => PLAIN_TEXT.test(text) && isTidy(text)

const isTidy = (text: string): boolean => !OUTER_BLANK.test(text) && text.normalize('NFC') === text

// Hangul fillers and the like are letters that nobody sees; the blank Braille pattern is a symbol.
const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u

/**
 * Whether a text holds a character that a reader sees: a letter, digit, mark of punctuation or symbol.
 * Blanks, tabs, U+00A0 and zero-width characters are none.
 */
export const hasVisibleCharacter = (text: string): boolean => VISIBLE.test(text)

/** Names of people compare without regard to case, as e-mail addresses are written in any. */
export const foldName = (name: string): string => name.normalize('NFC').toLowerCase()

/** True for 0 ≤ `usd` ≤ 1e9 with at most 6 decimals. */
export function isUsd(usd: number): boolean {
  return usd >= 0 && usd <= 1e9 && Math.round(usd * 1e6) / 1e6 === usd
}

/** USD (see `isUsd`) to integer micro-USD; exact, since 1e15 < 2^53. */
export const toMicroUsd = (usd: number): number => Math.round(usd * 1e6)

/** Integer micro-USD to the USD number of the wire. */
export const fromMicroUsd = (micro: number): number => micro / 1e6

const MAX_DEPTH = 32
const MAX_NAMES = 2_000
const MAX_BYTES = 64 * 1024
const encoder = new TextEncoder()

/** Whether free JSON keeps to 32 levels, 2,000 names and 64 KiB of JSON text. */
export function fitsFreeForm(value: unknown): boolean {
  const seen = { names: 0, bytes: 0 }
  if (!measure(value, 1, seen)) return false
  // The walk sums an upper bound; only a large value is serialized to know.
  return seen.bytes <= MAX_BYTES || encoder.encode(JSON.stringify(value)).length <= MAX_BYTES
}

function measure(value: unknown, depth: number, seen: { names: number; bytes: number }): boolean {
  if (typeof value === 'string') seen.bytes += value.length * 6 + 2
  else if (typeof value !== 'object' || value === null) seen.bytes += 24
  else if (depth > MAX_DEPTH) return false
  else if (Array.isArray(value)) {
    seen.bytes += value.length + 2
    for (const item of value) if (!measure(item, depth + 1, seen)) return false
  } else {
    const record = value as Record<string, unknown>
    for (const name of Object.keys(record)) {
      if (++seen.names > MAX_NAMES) return false
      seen.bytes += name.length * 6 + 4
      if (!measure(record[name], depth + 1, seen)) return false
    }
  }
  return true
}
