import { entropyOf, isRandom, restlessness } from './random.ts'
import { LIKE_A_WORD, wordLikeness } from './word-like.ts'

/** Minimum entropy in bits; eight random letters and digits have at most 24. */
const MIN_BITS = 18
/** Above that of `camelCaseNames`. */
const MIN_RESTLESSNESS = 0.25
/** A URL, a regular expression, or the first line of a call. */
const NO_VALUE = /^[a-z][a-z0-9+.-]*:\/\/|^\/\^|^[\w.]+[({[]$/i
const CALL_OR_VARIABLE = /^[\w.,[\]-]*[({[]|[({[]$|^[$%{&]/
const VARIABLE = /^[$%&]\w+$/
const NAME = /^[\p{L}_]+(?:[._-][\p{L}_]+)*$|^(.)\1+$/u
const END_OF_STATEMENT = /[?.:)\]}]{1,8}$/
const NUMBER = /^\d{8,}$/
const PASSPHRASE = /^[A-Za-z][a-z]{2,11}(?:-[A-Za-z][a-z]{2,11}){3,}$/
/** Parts of variable names and of placeholders. */
const OF_NAMES =
  /pass|ps?wo?r?d|secret|token|key|user|string|value|auth|cred|conf|cfg|http|smtp|ldap|sql/i
const OF_PROSE =
  /(?<![a-z])(?:and|are|can|change|enter|example|for|from|goes|here|insert|must|not|our|please|see|set|should|the|this|type|use|will|with|you|your)(?![a-z])/i

/** Long values of that entropy without words are random too. */
const LONG = 32
const HIGH_ENTROPY = 4
/** Capitals as in no name: `tiBByccjBilt`. Then the letters need not be that unlike a word. */
const IRREGULAR = /[a-z].*[A-Z]{2}|[A-Z]{3}.*[a-z]/
const LIKE_A_FREQUENT_WORD = 5

/** Returns true for a random value behind a name such as `api_key`. */
export const isKey = (value: string): boolean =>
  (isRandom(value) || isLongWithoutWords(value)) && !isExpression(value)

const USER_AND_PASSWORD = /^[^:\p{Cc}\ufffd]*:[^\p{Cc}\ufffd]+$/u

/** Returns true for a user and a password in base64 (RFC 7617). */
export const isBasic = (value: string): boolean =>
  USER_AND_PASSWORD.test(Buffer.from(value, 'base64').toString('utf8'))

/** Returns true for a password beside its user, which is no word for one and no variable. */
export const isPasswordOfUser = (value: string): boolean =>
  !/[<>{}*]/.test(value) && (isPassword(value) || !(isExpression(value) || NAME.test(value)))

/** Returns true for a value that is a password, in contrast to names, placeholders and code. */
export function isPassword(value: string): boolean {
  if (isExpression(value)) return false
  const bare = value.replace(END_OF_STATEMENT, '')
  if (NAME.test(bare)) return isRandomName(bare) || isPassphrase(bare)
  if (NUMBER.test(value)) return true
  // Prose without blanks, as in Chinese and Japanese.
  if (/\p{Lo}/u.test(value)) return false
  return /\p{L}/u.test(value) && hasEntropy(value)
}

const isExpression = (value: string): boolean =>
  NO_VALUE.test(value) ||
  (CALL_OR_VARIABLE.test(value) &&
    restlessness(value) < MIN_RESTLESSNESS &&
    (VARIABLE.test(value) || isWordLike(value)))

/** Returns true for letters that form neither words nor the names of variables. */
const isRandomName = (value: string): boolean =>
  hasEntropy(value) &&
  (restlessness(value) >= MIN_RESTLESSNESS || (isUnlikeNames(value) && !OF_NAMES.test(value)))

const isUnlikeNames = (value: string): boolean =>
  wordLikeness(value) < (IRREGULAR.test(value) ? LIKE_A_FREQUENT_WORD : LIKE_A_WORD)

const isPassphrase = (value: string): boolean =>
  PASSPHRASE.test(value) && !OF_NAMES.test(value) && !OF_PROSE.test(value)

const isLongWithoutWords = (value: string): boolean =>
  value.length >= LONG && entropyOf(value) >= HIGH_ENTROPY && !isWordLike(value)

const hasEntropy = (value: string): boolean => entropyOf(value) * value.length >= MIN_BITS

const isWordLike = (value: string): boolean => wordLikeness(value) >= LIKE_A_WORD
