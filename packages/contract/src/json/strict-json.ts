import { isUtf8 } from 'node:buffer'

export interface StrictJsonOptions {
  /** Maximum nesting of arrays and objects. Default: 64. */
  readonly maxDepth?: number
  /** Reject U+0000 in names and strings: PostgreSQL cannot store it in a text column. */
  readonly refuseNul?: boolean
  /** Limits of the content. Default: unlimited. */
  readonly limits?: JsonLimits
}

/** Counts that are checked before parsing, which costs far more than counting. */
export interface JsonLimits {
  /** Names of members, arrays and objects together. */
  readonly parts: number
  /** Different names, by their spelling. Each new one costs as much as many repeated ones. */
  readonly names: number
  /** Commas, which separate values. */
  readonly values: number
}

export type StrictJsonCode =
  | 'not_utf8'
  | 'byte_order_mark'
  | 'not_json'
  | 'not_a_container'
  | 'too_deep'
  | 'duplicate_name'
  | 'misread_name'
  | 'inexact_number'
  | 'lone_surrogate'
  | 'nul_character'
  | 'too_many_parts'

/** The error for a rejected text: `reason` is a sentence for the sender, `code` is for programs. */
export class StrictJsonError extends Error {
  readonly code: StrictJsonCode
  readonly reason: string

  constructor(code: StrictJsonCode, reason: string) {
    super(reason)
    this.name = 'StrictJsonError'
    this.code = code
    this.reason = reason
  }
}

/**
 * Parses a JSON object or array (RFC 8259) so that the result means the same to every other reader
 * (RFC 7493, I-JSON). Throws `StrictJsonError`.
 *
 * `JSON.parse` silently keeps the last of two equal names, rounds numbers and accepts unpaired
 * surrogates, which is not acceptable for evidence. The source bytes are therefore scanned before
 * parsing, and the names are counted after.
 */
export function parseStrictJson(bytes: Uint8Array, options: StrictJsonOptions = {}): unknown {
  if (!isUtf8(bytes)) throw new StrictJsonError('not_utf8', 'The text is not valid UTF-8.')
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw new StrictJsonError('byte_order_mark', 'The text starts with a byte order mark.')
  }
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // Before parsing, because a deeply nested text must not become a million objects.
  const scan = scanSource(source, options.maxDepth ?? 64, options.limits?.parts ?? Infinity)
  if (options.limits) checkLimits(source, scan, options.limits)
  const text = source.toString('utf8')

  const value = parse(text)
  if (typeof value !== 'object' || value === null) {
    throw new StrictJsonError('not_a_container', 'The text must be a JSON object or array.')
  }
  const read = countNames(value, { names: 0, backslashed: 0 })
  if (read.names !== scan.names) {
    const name = shown(duplicateName(text) ?? '')
    throw new StrictJsonError('duplicate_name', `The name ${name} appears twice in one object.`)
  }
  // V8 parses a name such as `x\n` as the `x\` of an object that it has seen (nodejs/node#63785);
  // the misread name always ends in a backslash.
  if (read.backslashed !== scan.backslashed) {
    const reason =
      'A name has escapes that the JSON parser misreads; write the name without escapes.'
    throw new StrictJsonError('misread_name', reason)
  }
  if (scan.unicodeEscapes) checkCharacters(value, options.refuseNul ?? false)
  return value
}

function checkLimits(source: Buffer, scan: Scan, limits: JsonLimits): void {
  if (scan.values > limits.values) throw tooMany(limits.values, 'values')
  if (scan.names > limits.names && hasMoreNames(source, limits.names))
    throw tooMany(limits.names, 'different names')
}

const tooMany = (most: number, of: string): StrictJsonError =>
  new StrictJsonError('too_many_parts', `The text must not have more than ${most} ${of}.`)

const MAX_SHOWN = 64

/** Quotes a text for a message and truncates a long one. */
const shown = (text: string): string =>
  JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)

interface Scan {
  /** Colons outside strings, which in valid JSON is the number of names. */
  names: number
  /** Commas outside strings. */
  values: number
  /** Names that end in a backslash. */
  backslashed: number
  /**
   * An unpaired surrogate or U+0000 can only come from a \u escape: UTF-8 cannot encode the former,
   * and JSON forbids the latter unescaped.
   */
  unicodeEscapes: boolean
}

// Index arithmetic on bytes instead of a tokenizer, because this runs before every decision. For a
// text that is not JSON the counts are meaningless, and `JSON.parse` rejects it.
function scanSource(source: Buffer, maxDepth: number, maxParts: number): Scan {
  const end = source.length
  const scan = { names: 0, values: 0, backslashed: 0, unicodeEscapes: false }
  let depth = 0
  let parts = 0
  let endsInBackslash = false
  for (let at = 0; at < end; at++) {
    const byte = source[at] ?? 0
    if (byte === 0x22) {
      endsInBackslash = false
      let inside = source[++at]
      while (inside !== 0x22 && at < end) {
        endsInBackslash = false
        if (inside === 0x5c) {
          const escaped = source[++at]
          endsInBackslash = escaped === 0x5c || isBackslashCode(source, at)
          if (escaped === 0x75) {
            scan.unicodeEscapes = true
            at += 4
          }
        }
        inside = source[++at]
      }
    } else if (byte === 0x3a) {
      scan.names++
      parts++
      if (endsInBackslash) scan.backslashed++
    } else if (byte === 0x2c) {
      scan.values++
    } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const stop = endOfNumber(source, at)
      // At most 15 characters and no exponent: a double holds such a decimal, and no larger integer.
      if (stop - at > 15 || hasExponent(source, at, stop)) checkNumber(source, at, stop)
      at = stop - 1
    } else if (byte === 0x7b || byte === 0x5b) {
      parts++
      if (++depth > maxDepth) {
        const reason = `The text is nested deeper than ${maxDepth} levels.`
        throw new StrictJsonError('too_deep', reason)
      }
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--
    }
    if (parts > maxParts) throw tooMany(maxParts, 'names, arrays and objects')
  }
  return scan
}

/** Returns true if `u005c` is at this position. */
const isBackslashCode = (source: Buffer, at: number): boolean =>
  source[at] === 0x75 &&
  source[at + 1] === 0x30 &&
  source[at + 2] === 0x30 &&
  source[at + 3] === 0x35 &&
  (source[at + 4] === 0x63 || source[at + 4] === 0x43)

function endOfNumber(source: Buffer, start: number): number {
  let at = start + 1
  for (;;) {
    const byte = source[at] ?? 0
    const partOfNumber =
      (byte >= 0x30 && byte <= 0x39) ||
      byte === 0x2e ||
      byte === 0x65 ||
      byte === 0x45 ||
      byte === 0x2b ||
      byte === 0x2d
    if (!partOfNumber) return at
    at++
  }
}

function hasExponent(source: Buffer, start: number, stop: number): boolean {
  for (let at = start; at < stop; at++) {
    if (source[at] === 0x65 || source[at] === 0x45) return true
  }
  return false
}

function checkNumber(source: Buffer, start: number, stop: number): void {
  const literal = source.toString('latin1', start, stop)
  const fault = numberFault(literal)
  if (fault !== null) throw new StrictJsonError('inexact_number', fault)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new StrictJsonError('not_json', `The text is not JSON: ${why}`)
  }
}

interface NamesRead {
  names: number
  /** Names that end in a backslash. */
  backslashed: number
}

// Recursion is safe here and below: the scan has already bounded the depth.
function countNames(value: object, count: NamesRead): NamesRead {
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) {
      if (typeof item === 'object' && item !== null) countNames(item, count)
    }
    return count
  }
  const record = value as Record<string, unknown>
  for (const name of Object.keys(record)) {
    const item = record[name]
    count.names++
    if (name.charCodeAt(name.length - 1) === 0x5c) count.backslashed++
    if (typeof item === 'object' && item !== null) countNames(item, count)
  }
  return count
}

function checkCharacters(value: unknown, refuseNul: boolean): void {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) {
      const reason = `The string ${shown(value)} contains an unpaired surrogate.`
      throw new StrictJsonError('lone_surrogate', reason)
    }
    if (refuseNul && value.includes('\0')) {
      const reason = `The string ${shown(value)} contains the character U+0000.`
      throw new StrictJsonError('nul_character', reason)
    }
  } else if (Array.isArray(value)) {
    for (const item of value as unknown[]) checkCharacters(item, refuseNul)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      checkCharacters(name, refuseNul)
      checkCharacters(item, refuseNul)
    }
  }
}

const NUMBER = /^-?(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/
const DIGITS = /^-?\d+$/
/** Of doubles that no other double prints with. */
const MOST_DIGITS = 17
const MAX_LITERAL = 40

/**
 * Returns why a number of a JSON text is refused, as a sentence for the sender; null if it is read as the
 * nearest double without the loss of a digit that a double can hold (RFC 7493 section 2.2):
 *
 * - A number with a fraction is the nearest double for every reader. Its further digits are noise of the
 *   sender, such as the 17 digits of encoders that do not look for the shortest form.
 * - An integer beyond 2^53 may be an identifier, so it must be the double itself. With an exponent or a
 *   decimal point, it may also be a decimal form of the double in up to 17 digits.
 * - Nothing becomes infinite, or zero.
 *
 * Invalid number literals are left to the JSON parser.
 */
export function numberFault(literal: string): string | null {
  const value = Number(literal)
  if (Number.isNaN(value)) return null
  const excerpt = literal.length > MAX_LITERAL ? `${literal.slice(0, MAX_LITERAL)}…` : literal
  if (!Number.isFinite(value))
    return `The number ${excerpt} is beyond the range of a 64-bit float; send it as a string.`
  const { digits, power } = decimalOf(literal)
  if (value === 0)
    return digits === ''
      ? null
      : `The number ${excerpt} is too small for a 64-bit float; send 0, or the number as a string.`
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER || power < 0) return null
  const exact = decimalOf(String(BigInt(value)))
  if (digits === exact.digits && power === exact.power) return null
  if (!DIGITS.test(literal) && digits.length <= MOST_DIGITS) {
    const printed = decimalOf(value.toPrecision(digits.length))
    if (digits === printed.digits && power === printed.power) return null
  }
  return `The integer ${excerpt} is not exact as a 64-bit float; send it as a string.`
}

interface Decimal {
  /** The significant ones; empty for zero. */
  readonly digits: string
  /** The power of ten of the last digit. */
  readonly power: number
}

function decimalOf(literal: string): Decimal {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(literal) ?? []
  const all = (whole + fraction).replace(/^0+/, '')
  const digits = all.slice(0, endOfDigits(all))
  return { digits, power: Number(exponent) - fraction.length + all.length - digits.length }
}

/** Returns the position of the trailing zeros. A regular expression would be quadratic. */
function endOfDigits(digits: string): number {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return end
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g

/** Returns the first name that an object of this valid JSON text has twice, for error messages. */
function duplicateName(text: string): string | undefined {
  const open: Set<string>[] = []
  let last = ''
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':') {
      const name = JSON.parse(last) as string
      const names = open.at(-1)
      if (names?.has(name)) return name
      names?.add(name)
    }
    last = token
  }
  return undefined
}

/** Returns true if the text, if it is JSON, has more than `most` different names. */
function hasMoreNames(source: Buffer, most: number): boolean {
  const names = new Set<string>()
  let start = 0
  let end = 0
  for (let at = 0; at < source.length; at++) {
    const byte = source[at]
    if (byte === 0x22) {
      start = at + 1
      for (at++; at < source.length && source[at] !== 0x22; at++) if (source[at] === 0x5c) at++
      end = at
    } else if (byte === 0x3a) {
      names.add(source.toString('latin1', start, end))
      if (names.size > most) return true
    }
  }
  return false
}
