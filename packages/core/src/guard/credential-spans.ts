import type { Detection } from './detection.ts'
import { namesIn, wordsIn } from './characters.ts'
import { PASSWORD_OR_KEY, SEPARATOR } from './named-secrets.ts'

/** [start, end) of a text. */
export type Span = readonly [start: number, end: number]

/** A span beside or within a secret, and the words in it, which could be those of an instruction. */
export interface CredentialSpan {
  readonly span: Span
  /** User and password of a URL; its query; or what is beside a secret: a name, a tag, host and path. */
  readonly part: 'user' | 'beside' | 'query'
  readonly words: readonly string[]
}

const URL_BEGINNING = /[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/?#@"'<>]{0,64}:$/i
/** Longer ones have other text in them. */
const PLACE_AND_QUERY =
  /(?<place>[^\s"'<>`?#{}@]{0,128})(?<query>[?#][^\s"'<>`{}@]{0,128})?(?![^\s"'<>`{}])/y
/** Up to the value. */
const NAME = new RegExp(
  String.raw`(?<element><)?(?<name>[\p{L}\p{M}\p{N}_.-]{1,64})(?:${SEPARATOR}|>)(?:\\*["'\x60])?$`,
  'u',
)
const NAMES_OF_CREDENTIALS = new RegExp(PASSWORD_OR_KEY, 'gi')
const MAX_BEGINNING = 100

/** Returns the spans of a secret with its name or URL. */
export function credentialSpans(
  text: string,
  { detector, start, end }: Detection,
): CredentialSpan[] {
  return detector === 'secret.password_in_url'
    ? partsOfUrl(text, start, end)
    : namedValue(text, start, end)
}

/** User and password, host and path, and query, of the URL with this password. */
function partsOfUrl(text: string, start: number, end: number): CredentialSpan[] {
  const beginning = URL_BEGINNING.exec(before(text, start))?.[0] ?? ''
  const from = start - beginning.length
  const host = end + 1
  PLACE_AND_QUERY.lastIndex = host
  const { place = '', query = '' } = PLACE_AND_QUERY.exec(text)?.groups ?? {}
  const queryAt = host + place.length
  return [
    {
      span: [from, host],
      part: 'user',
      words: wordsIn(text.slice(from + beginning.indexOf('://'), end)),
    },
    { span: [host, queryAt], part: 'beside', words: namesIn(place) },
    { span: [queryAt, queryAt + query.length], part: 'query', words: namesIn(query) },
  ]
}

/** The value, if it is random, its name and its closing tag. */
function namedValue(text: string, start: number, end: number): CredentialSpan[] {
  const value = text.slice(start, end)
  if (/\s/.test(value) || !isRandom(value)) return []
  const found = NAME.exec(before(text, start))
  if (!found?.groups) return [{ span: [start, end], part: 'beside', words: [] }]
  const { element, name = '' } = found.groups
  const tag = `</${name}>`
  const last = element !== undefined && text.startsWith(tag, end) ? end + tag.length : end
  const words = namesIn(name.replace(NAMES_OF_CREDENTIALS, ' '))
  return [
    { span: [start, end], part: 'beside', words: [] },
    { span: [start - found[0].length, start], part: 'beside', words },
    { span: [end, last], part: 'beside', words },
  ]
}

/** Returns whether hardly any of a value is words: long random values have something like one. */
function isRandom(value: string): boolean {
  const words = wordsIn(value)
  return words.length <= 1 || words.join('').length * 3 <= value.length
}

const before = (text: string, end: number): string =>
  text.slice(Math.max(0, end - MAX_BEGINNING), end)
