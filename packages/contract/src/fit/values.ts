const ASCII_NAME = /^[!-)+-~](?:[ -)+-~]{0,254}[!-)+-~])?$/
/**
 * No invisible characters: names that look the same must be the same. `DI` is Unicode's
 * `Default_Ignorable_Code_Point` (UAX #44), `NChar` are noncharacters. The others have no glyph or a
 * blank one: private use, the object replacement character, the blank Braille pattern, blank
 * Egyptian hieroglyphs, the Khitan filler and the null notehead.
 */
const UNICODE_NAME =
  /^[^\u{16FE4}\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{DI}\p{NChar}\p{Zl}\p{Zp}[\p{Zs}--\x20]\u2800\uFFFC\u{13441}\u{13442}\u{1D159}*]{1,256}$/v
const PLAIN_TEXT = /^[^\p{Cc}\p{Cf}\p{Cs}]+$/u
const OUTER_BLANK = /^\s|\s$/u

/** Returns true for a valid agent id, action, resource part or approver; see `primitives.ts`. */
export const isName = (text: string): boolean =>
  ASCII_NAME.test(text) || (UNICODE_NAME.test(text) && isTidy(text))

/** Returns true for a name that a path can have: clients resolve `.` and `..` away. */
export const isAgentId = (text: string): boolean => isName(text) && text !== '.' && text !== '..'

/** Returns true for a name, and for `""`, which stands for none. */
export const isNameOrNone = (text: string): boolean => text === '' || isName(text)

/** Returns true for a line of free text, which is not compared with another one. */
export const isLine = (text: string): boolean => PLAIN_TEXT.test(text) && isTidy(text)

const isTidy = (text: string): boolean => !OUTER_BLANK.test(text) && text.normalize('NFC') === text

// Hangul fillers and similar characters are invisible letters; the blank Braille pattern is a
// symbol.
const VISIBLE =
  /(?![\p{Default_Ignorable_Code_Point}\u2800\uFFFC\u{13441}\u{13442}\u{1D159}])[\p{L}\p{N}\p{P}\p{S}]/u

/**
 * Returns true if a text has a visible character: a letter, digit, punctuation mark or symbol.
 * Blanks, tabs, U+00A0 and zero-width characters are invisible.
 */
export const hasVisibleCharacter = (text: string): boolean => VISIBLE.test(text)

/**
 * Converts text to a line of free text: characters that a line cannot have become blanks. Null if no
 * character is visible.
 */
export const toLine = (text: string): string | null =>
  hasVisibleCharacter(text)
    ? text
        .replace(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
        .trim()
        .normalize('NFC')
    : null

/** Normalizes a name for comparison without regard to case, as e-mail addresses vary in case. */
export const foldName = (name: string): string => name.normalize('NFC').toLowerCase()

/** Returns true for a JSON object. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns true for 0 ≤ `usd` ≤ 1e9 with at most 6 decimals. */
export function isUsd(usd: number): boolean {
  return usd >= 0 && usd <= 1e9 && Math.round(usd * 1e6) / 1e6 === usd
}

/** Converts USD (see `isUsd`) to integer micro-USD; exact, since 1e15 < 2^53. */
export const toMicroUsd = (usd: number): number => Math.round(usd * 1e6)

/** Converts integer micro-USD to the USD number of the API. */
export const fromMicroUsd = (micro: number): number => micro / 1e6

/** Returns true for units that are counted in whole numbers. */
export const isWholeUnit = (unit: string): boolean => unit === 'calls' || unit === 'tokens'

/** Returns whether a unit has such an amount: 0 to 9e15 for whole units, else as `isUsd`. */
export const isUnitAmount = (unit: string, amount: number): boolean =>
  isWholeUnit(unit) ? Number.isSafeInteger(amount) && amount >= 0 && amount <= 9e15 : isUsd(amount)

/** Converts an amount of a unit to the integer that is counted: millionths, unless the unit is whole. */
export const toUnits = (unit: string, amount: number): number =>
  isWholeUnit(unit) ? amount : toMicroUsd(amount)

/** Converts a counted integer to the amount of the unit. */
export const fromUnits = (unit: string, counted: number): number =>
  isWholeUnit(unit) ? counted : fromMicroUsd(counted)

/**
 * The windows of UTC time in which spend is counted, shortest first: how many letters of a time name one
 * (`2026-11-20`), the member of its cap, and its word in other names (`spend_limit_daily`).
 */
export const WINDOWS = [
  { name: 'hour', word: 'hourly', cap: 'hourly_usd', letters: 13 },
  { name: 'day', word: 'daily', cap: 'daily_usd', letters: 10 },
  { name: 'month', word: 'monthly', cap: 'monthly_usd', letters: 7 },
] as const

export type Window = (typeof WINDOWS)[number]

/** A value for each window. */
export type ByWindow<T> = Readonly<Record<Window['name'], T>>

/** Returns a value for each window, under its name, cap or word. */
export function byWindow<Key extends 'name' | 'cap' | 'word', T>(
  key: Key,
  valueOf: (window: Window) => T,
): Record<Window[Key], T> {
  const values: Partial<Record<Window[Key], T>> = {}
  for (const window of WINDOWS) values[window[key] as Window[Key]] = valueOf(window)
  return values as Record<Window[Key], T>
}

/** Maximum number of links in a chain of permissions after its root. */
export const MAX_DELEGATION_DEPTH = 8

const MAX_DEPTH = 32
const MAX_NAMES = 2_000
const MAX_BYTES = 64 * 1024
const encoder = new TextEncoder()

/** Returns true if free JSON has at most 32 levels, 2,000 names and 64 KiB of JSON text. */
export function fitsFreeForm(value: unknown): boolean {
  const seen = { names: 0, bytes: 0 }
  if (!measure(value, 1, seen)) return false
  // The walk sums an upper bound; only large values are serialized.
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
