import { entropyOf, isRandom, restlessness } from './random.ts'

/** A secret without its own format, recognized by the name before it. Group 1 is the secret. */
export interface NamedSecret {
  readonly kind: string
  readonly pattern: RegExp
  /** Returns false for values that cannot be secrets: names, placeholders and code. */
  readonly accepts: (value: string) => boolean
}

const SEPARATOR = '["\'\\]]{0,2}[ \\t]{0,3}(?::=|=>|[:=])[ \\t]{0,3}["\'`]?'

/** Common prefixes of the names; few texts contain any. */
export const NAMES_OF_SECRETS =
  /pass(?:w|phrase)|pwd|secret|bearer|[_. -]?(?:key|token)["'\]]{0,2}[ \t]{0,3}[:=]/i

export const GENERIC_SECRETS: readonly NamedSecret[] = [
  {
    kind: 'bearer_token',
    pattern: /\bbearer[ \t]{1,3}([A-Za-z0-9._~+/=-]{20,2048})/dgi,
    accepts: isRandom,
  },
  {
    kind: 'api_key',
    pattern: new RegExp(
      '(?:(?:api|access|secret|private|auth|client|refresh|session|signing|encryption|master)[_. -]?' +
        `(?:key|token|secret)|secret)${SEPARATOR}([A-Za-z0-9._~+/=-]{16,512})`,
      'gid',
    ),
    accepts: isRandom,
  },
  {
    kind: 'password',
    pattern: new RegExp(`(?:pass(?:word|wd|phrase)|pwd)${SEPARATOR}([^\\s"'\`,;<>]{8,128})`, 'gid'),
    accepts: isPassword,
  },
]

/** Minimum entropy in bits; eight random letters and digits have at most 24. */
const MIN_BITS = 22
/** Above that of `camelCaseNames`. */
const MIN_RESTLESSNESS = 0.25
const CODE = /^[\w.[\]-]*[({[]|^[$%{]|^[A-Za-z_]+(?:[._-][A-Za-z_]+)*$|^(.)\1+$/

function isPassword(value: string): boolean {
  if (CODE.test(value) && restlessness(value) < MIN_RESTLESSNESS) return false
  if (!/\p{L}/u.test(value) || entropyOf(value) * value.length < MIN_BITS) return false
  return /[^\p{L}]/u.test(value) || restlessness(value) >= MIN_RESTLESSNESS
}
