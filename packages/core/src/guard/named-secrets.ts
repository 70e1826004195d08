import { entropyOf, isRandom, restlessness } from './random.ts'

/** A secret without its own format, recognized by the name before it. */
export interface NamedSecret {
  readonly kind: string
  /** The group `secret` is the secret. */
  readonly pattern: RegExp
  /** Returns false for values that cannot be secrets: names, placeholders and code. */
  readonly accepts: (value: string) => boolean
}

/** Between a name and its value; in a JSON string inside of another, backslashes precede quotes. */
export const SEPARATOR = String.raw`(?:\\*["'\]]){0,2}[ \t]*(?::=|=>|[:=])[ \t]*`

/** Common prefixes of the names; few texts contain any. */
export const NAMES_OF_SECRETS =
  /pass(?:w|phrase)|pwd|secret|bearer|(?:key|token)(?:\\*["'\]]){0,2}[ \t]*[:=]/i

const QUOTES = '"\'`'
/** Without white space, up to the same quote; a quote after more backslashes is part of the value. */
const QUOTED = String.raw`(?:(?!\k<quote>)\\*[^\s\\])`
const PLAIN = String.raw`[^\s,;&<>\\${QUOTES}]`
/** Part of an unquoted value, unless another name or the end of the statement follows. */
const SIGN = String.raw`[,;&${QUOTES}](?=${PLAIN})(?![)\]}]|[\w. -]{1,40}[:=])|\\(?![nrtu\\${QUOTES}])`

/** A value of at least this many characters behind a name. */
const valueAfter = (names: string, least: number): RegExp =>
  new RegExp(
    `(?:${names})${SEPARATOR}(?<quote>\\\\*[${QUOTES}])?` +
      `(?<secret>${QUOTED}{${least},}(?=\\k<quote>)|${PLAIN}(?:${PLAIN}|${SIGN}){${least - 1},})`,
    'gid',
  )

export const GENERIC_SECRETS: readonly NamedSecret[] = [
  {
    kind: 'bearer_token',
    // RFC 6750 section 2.1.
    pattern: /\bbearer[ \t]{1,3}(?<secret>[A-Za-z0-9._~+/=-]{20,})/dgi,
    accepts: isRandom,
  },
  {
    kind: 'api_key',
    pattern: valueAfter(
      '(?:api|access|secret|private|auth|client|refresh|session|signing|encryption|master)[_. -]?' +
        '(?:key|token|secret)|secret',
      16,
    ),
    accepts: (value) => isRandom(value) && !isExpression(value),
  },
  {
    kind: 'password',
    pattern: valueAfter('pass(?:word|wd|phrase)|pwd', 8),
    accepts: isPassword,
  },
]

/** Minimum entropy in bits; eight random letters and digits have at most 24. */
const MIN_BITS = 22
/** Above that of `camelCaseNames`. */
const MIN_RESTLESSNESS = 0.25
/** A URL, a regular expression, or the first line of a call. */
const NO_VALUE = /^[a-z][a-z0-9+.-]*:\/\/|^\/\^|[({[]$/i
const CALL_OR_VARIABLE = /^[\w.,[\]-]*[({[]|^[$%{]/
const NAME = /^[A-Za-z_]+(?:[._-][A-Za-z_]+)*$|^(.)\1+$/

const isExpression = (value: string): boolean =>
  NO_VALUE.test(value) || (CALL_OR_VARIABLE.test(value) && restlessness(value) < MIN_RESTLESSNESS)

function isPassword(value: string): boolean {
  if (isExpression(value) || (NAME.test(value) && restlessness(value) < MIN_RESTLESSNESS))
    return false
  if (!/\p{L}/u.test(value) || entropyOf(value) * value.length < MIN_BITS) return false
  return /[^\p{L}]/u.test(value) || restlessness(value) >= MIN_RESTLESSNESS
}
