import { z } from 'zod'
import { Unscorable } from './scorer.ts'
import type { FieldName } from './scorer.ts'

/** The parameters that make a comparison of texts lenient. Default: all off. */
export const textParams = {
  ignore_case: z.boolean().default(false).describe('Full Unicode case folding: straße = STRASSE'),
  ignore_whitespace: z
    .enum(['none', 'trim', 'collapse'])
    .default('none')
    .describe('trim cuts both ends; collapse also makes every inner run one space'),
  ignore_punctuation: z
    .boolean()
    .default(false)
    .describe('Leave out Unicode punctuation and symbols'),
  unicode_normalization: z.enum(['none', 'NFC', 'NFKC']).default('none'),
}

export type TextParams = z.output<z.ZodObject<typeof textParams>>

const WHITESPACE = /\p{White_Space}+/gu
const PUNCTUATION = /[\p{P}\p{S}]/gu

/** Returns a text in the form for comparison under these parameters. */
export function normalizeText(text: string, params: TextParams): string {
  return isStrict(params) ? text : lenient(text, params)
}

const isStrict = (params: TextParams): boolean =>
  !params.ignore_case &&
  !params.ignore_punctuation &&
  params.ignore_whitespace === 'none' &&
  params.unicode_normalization === 'none'

function lenient(text: string, params: TextParams): string {
  const { unicode_normalization: form } = params
  let result = form === 'none' ? text : text.normalize(form)
  if (params.ignore_case) result = foldCase(result)
  if (params.ignore_punctuation) result = result.replace(PUNCTUATION, '')
  if (params.ignore_whitespace === 'collapse') result = result.replace(WHITESPACE, ' ')
  if (params.ignore_whitespace !== 'none') result = trimWhitespace(result)
  // Case folding and removals can undo the Unicode form, so it is applied last.
  return form === 'none' ? result : result.normalize(form)
}

const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/g
// Marks count as word characters: "an" is not the start of a decomposed "año".
const ARTICLES = /(?<![\p{L}\p{M}\p{N}_])(?:a|an|the)(?![\p{L}\p{M}\p{N}_])/gu

/**
 * Normalizes an answer as in SQuAD: lower case, no ASCII punctuation, no English articles, single
 * spaces. Articles end at Unicode word borders; with JavaScript's `\b`, "año" loses its a.
 */
export function normalizeSquad(text: string): string {
  const words = text.toLowerCase().replace(ASCII_PUNCTUATION, '').replace(ARTICLES, ' ')
  return words.replace(WHITESPACE, ' ').trim()
}

const WHITESPACE_UNIT = /^\p{White_Space}$/u

/**
 * Removes Unicode white space at the ends of a text. Unit by unit: a pattern that ends with `$`
 * retries at each blank of a long run in the middle, which takes quadratic time.
 */
export function trimWhitespace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && WHITESPACE_UNIT.test(text.charAt(start))) start++
  while (end > start && WHITESPACE_UNIT.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

/**
 * Full case folding of the Unicode Standard (section 3.13, C and F mappings): texts that differ
 * only in case fold to the same text, including STRASSE and straße. Not for display.
 *
 * JavaScript has no such function. Lower, upper, lower gives every mapping of the table, except
 * that the dotless ı must stay itself and that a final ς must become σ.
 */
export function foldCase(text: string): string {
  return text
    .split('ı')
    .map((part) => part.toLowerCase().toUpperCase().toLowerCase())
    .join('ı')
    .replaceAll('ς', 'σ')
}

// Up to this length the engine's own search needs at most this many steps per character.
const SHORT = 64

/**
 * Yields the positions of `needle` in a text, including overlapping ones, in linear time. The
 * built-in search is quadratic on texts like aaaa…, which a request could send a thousand times.
 */
export function* occurrences(text: string, needle: string): Generator<number> {
  if (needle === '') return
  if (needle.length > SHORT) {
    yield* linearSearch(text, needle)
    return
  }
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) yield at
}

/** Knuth-Morris-Pratt: the border table gives the matching prefix after a mismatch. */
function* linearSearch(text: string, needle: string): Generator<number> {
  const borders = bordersOf(needle)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0
    if (needle.charCodeAt(matched) === unit) matched++
    if (matched < needle.length) continue
    yield at - needle.length + 1
    matched = borders[matched - 1] ?? 0
  }
}

/** Returns, for each prefix, the length of its longest proper border. */
function bordersOf(needle: string): Uint32Array {
  const borders = new Uint32Array(needle.length)
  let border = 0
  for (let at = 1; at < needle.length; at++) {
    while (border > 0 && needle.charCodeAt(border) !== needle.charCodeAt(at)) {
      border = borders[border - 1] ?? 0
    }
    if (needle.charCodeAt(border) === needle.charCodeAt(at)) border++
    borders[at] = border
  }
  return borders
}

export const Extract = z
  .enum(['none', 'fence'])
  .default('none')
  .describe('fence: a text that is one fenced Markdown code block is replaced by its content')
export type Extract = z.output<typeof Extract>

// Functions over a value recurse; `JSON.parse` accepts far more levels than the stack does.
const MAX_DEPTH = 1_000

/** A JSON value, or undefined for none. */
type Read = { readonly value: unknown } | undefined

/**
 * Returns the JSON value of a field: a text is parsed (RFC 8259: no byte order mark, no NaN, no
 * trailing comma), other values are returned unchanged. Throws `Unscorable` for too deep nesting.
 */
export function extractJson(field: FieldName, given: unknown, extract: Extract): Read {
  const read = typeof given === 'string' ? parse(unfenced(given, extract)) : { value: given }
  if (read && isDeeper(read.value, MAX_DEPTH))
    throw new Unscorable('limit_exceeded', `${field} is nested deeper than 1,000 levels`, field)
  return read
}

function parse(text: string): Read {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

const OPENING = /^(`{3,}|~{3,})[^\n`]*\n/

/**
 * Returns the content of a text that is one fenced block (CommonMark 4.5). A fence inside a JSON
 * string is not on its own line, so it never ends the block.
 */
function unfenced(text: string, extract: Extract): string {
  if (extract === 'none') return text
  const trimmed = trimWhitespace(text)
  const [opening, fence = ''] = OPENING.exec(trimmed) ?? []
  if (opening === undefined) return text
  const lines = trimmed.slice(opening.length).split('\n')
  const isClosing = (line: string) => {
    const bare = trimWhitespace(line)
    return bare.length >= fence.length && bare === fence.charAt(0).repeat(bare.length)
  }
  const closing = lines.findIndex(isClosing)
  return closing === lines.length - 1 ? lines.slice(0, -1).join('\n') : text
}

/**
 * Returns true if arrays and objects are nested in more than `levels` levels. Iterative, not
 * recursive.
 */
export function isDeeper(value: unknown, levels: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter((item) => typeof item === 'object' && item !== null)
    if (containers.length > 0 && depth === levels) return true
    level = containers.flatMap((item) => Object.values(item as Readonly<Record<string, unknown>>))
  }
  return false
}

/** Returns true if a text has another one in it; a whole one has no part of a word next to it. */
export function holds(text: string, needle: string, whole: boolean): boolean {
  if (!whole && needle.length <= text.length && needle.length < 64) return text.includes(needle)
  for (const at of occurrences(text, needle)) {
    if (!whole || standsAlone(text, at, at + needle.length)) return true
  }
  return false
}

const WORD_CHARACTER = /^[\p{L}\p{M}\p{N}_]$/u

/** Returns true if [start, end) has no part of a word next to it. */
export function standsAlone(text: string, start: number, end: number): boolean {
  // A surrogate pair is one character: check both units if the first alone is not sufficient.
  const before = /[\s\S]$/u.exec(text.slice(Math.max(0, start - 2), start))?.[0] ?? ''
  const after = text.slice(end, end + 2).match(/^[\s\S]/u)?.[0] ?? ''
  return !WORD_CHARACTER.test(before) && !WORD_CHARACTER.test(after)
}

// White space of Python's `str.split`, for the reference values of BLEU and chrF.
const PYTHON_WHITESPACE =
  /[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

const PYTHON_WHITESPACE_END = new RegExp(`${PYTHON_WHITESPACE.source.slice(0, -1)}$`)

/** Removes trailing white space as Python's `str.rstrip` does. */
export function cutEnd(text: string): string {
  let end = text.length
  while (end > 0 && PYTHON_WHITESPACE_END.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Splits a text into words as Python's `str.split` does. */
export function splitLikePython(text: string): string[] {
  const words = text.split(PYTHON_WHITESPACE)
  return words.filter((word) => word !== '')
}

const ASCII_WORD = /[a-z0-9]+/g
const UNICODE_WORD = /[\p{L}\p{M}\p{N}]+/gu

/** Returns words as in the ROUGE reference: lower case, ASCII letters and digits only. */
export const asciiWords = (text: string): string[] => text.toLowerCase().match(ASCII_WORD) ?? []

/** Returns lower-case words of letters, marks and digits of any script. */
export const unicodeWords = (text: string): string[] => text.toLowerCase().match(UNICODE_WORD) ?? []

/** Returns words regardless of case and composition, to search for a text. */
export const foldedWords = (text: string, fold: (text: string) => string): string[] =>
  fold(text.normalize('NFC')).normalize('NFC').match(UNICODE_WORD) ?? []
