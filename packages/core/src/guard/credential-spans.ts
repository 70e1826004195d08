import type { Detection } from './detection.ts'
import { hasFewNames, hasFewWords } from './few-words.ts'
import { SEPARATOR } from './named-secrets.ts'

/** A span without text that instructs: [start, end). */
export type Span = readonly [start: number, end: number]

const URL_BEGINNING = /[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/?#@"'<>]{0,64}:$/i
const HOST_AND_PATH = /[^\s"'<>`?#{}]*/y
/** Up to the value. */
const NAME = new RegExp(
  String.raw`[\p{L}\p{M}\p{N}_.-]{1,64}(?:${SEPARATOR}|>)(?:\\*["'\x60])?$`,
  'u',
)
const CLOSING_TAG = /<\/[\p{L}\p{N}_.:-]{1,64}>/uy
const MAX_BEGINNING = 100
const MAX_WORDS = 4
/** Long random values have something like a word now and then. */
const CHARACTERS_PER_WORD = 12

/** Returns the secret with its name or URL, unless words could hide in it. */
export function credentialSpans(text: string, { detector, start, end }: Detection): Span[] {
  return detector === 'secret.password_in_url'
    ? partsOfUrl(text, start, end)
    : namedValue(text, start, end)
}

/** User and password, and host and path, of the URL with this password. */
function partsOfUrl(text: string, start: number, end: number): Span[] {
  const beginning = beginningBefore(text, start, URL_BEGINNING)
  const from = start - beginning.length
  const host = end + 1
  const last = endAt(text, host, HOST_AND_PATH)
  const user = text.slice(from + beginning.indexOf('://'), end)
  return [
    ...(hasFewWords(user, MAX_WORDS) ? [[from, host] as const] : []),
    ...(hasFewNames(text.slice(host, last)) ? [[host, last] as const] : []),
  ]
}

function namedValue(text: string, start: number, end: number): Span[] {
  const value = text.slice(start, end)
  const mostWords = Math.min(MAX_WORDS, Math.max(2, value.length / CHARACTERS_PER_WORD))
  if (/\s/.test(value) || !hasFewWords(value, mostWords)) return []
  const name = beginningBefore(text, start, NAME)
  return hasFewWords(name, MAX_WORDS)
    ? [[start - name.length, endAt(text, end, CLOSING_TAG)]]
    : [[start, end]]
}

const beginningBefore = (text: string, start: number, pattern: RegExp): string =>
  pattern.exec(text.slice(Math.max(0, start - MAX_BEGINNING), start))?.[0] ?? ''

/** Returns the end of a match at a position; the position itself without one. The pattern is sticky. */
function endAt(text: string, position: number, pattern: RegExp): number {
  pattern.lastIndex = position
  return pattern.test(text) ? pattern.lastIndex : position
}
